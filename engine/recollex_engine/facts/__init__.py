"""Facts, events, episodes and conflicts, as one cut sees them."""
