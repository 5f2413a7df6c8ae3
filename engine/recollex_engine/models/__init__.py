"""Text encoders: where weights come from, and how a text becomes a vector."""
