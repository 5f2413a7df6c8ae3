"""Files in and out: formats of other programs, JSON lines, Parquet."""
