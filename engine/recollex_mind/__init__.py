"""What needs a language model, or decides like one: thinking, opinions, extraction, episodes."""
