"""recollex: a memory engine for AI agents."""
