"""The engine under the `recollex` package: import concepts from their modules."""
