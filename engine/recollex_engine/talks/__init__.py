"""Conversations under a write policy: what is worth writing, and what waits in working memory."""
