"""The version of recollex, which both ends of a connection tell."""

VERSION = "0.1.0"
