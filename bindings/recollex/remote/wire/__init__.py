"""What both ends of a connection share: values, errors, methods and messages as bytes.

`PROTOCOL.md`, beside this package, describes the protocol for other languages.
"""
