"""Ranking tables: what is measured on, by which measures, and one script a table."""
