"""What makes an agent somebody: its profile, its opinions, its thinking."""
