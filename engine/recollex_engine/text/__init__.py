"""What is found in a text without a model: terms, names, passages, tokens, cues."""
