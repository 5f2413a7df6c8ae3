"""What is read off a text without a model: terms, names, passages, tokens, cues."""
