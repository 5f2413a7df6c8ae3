"""What the two ends of a connection share: values, errors, methods and messages as bytes.

`PROTOCOL.md` beside this package describes the same for other languages.
"""
