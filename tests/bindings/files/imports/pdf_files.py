"""Writes small PDF files with a text on each page, and what they say of themselves."""


def pdf(pages: list[str], **about: str) -> bytes:
    """Return a PDF file. about: Title, Author, CreationDate."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{5 + 2 * n} 0 R' for n in range(len(pages)))}] "
        f"/Count {len(pages)} >>",
        "<< " + " ".join(f"/{name} ({value})" for name, value in about.items()) + " >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        lines = "".join(f"({line}) Tj T* " for line in text.splitlines())
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {lines}ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {6 + 2 * number} 0 R "
            "/Resources << /Font << /F1 4 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    written, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = (
        f"trailer\n<< /Size {size} /Root 1 0 R /Info 3 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
    )
    return f"{written}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")
