"""Conversations under a write policy: which turns are written, and which wait in working memory."""
