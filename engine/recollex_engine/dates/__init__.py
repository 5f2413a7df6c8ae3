"""Which time does a text speak of? An English grammar, other languages, a language model."""
