"""Episodic memory (REMem): gists and facts as one graph, tools, exact answers, an agent."""
