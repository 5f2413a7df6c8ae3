"""Which time a text speaks of: an English grammar, other languages, a language model."""
