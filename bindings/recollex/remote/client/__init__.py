"""The client of a recollex server: `recollex.connect` and `recollex.aio.connect`."""
