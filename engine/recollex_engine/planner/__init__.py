"""Questions about dated facts, answered by rules: exactly, or not at all."""
