"""Ranking tables, one script for each; `lib` has the measures that they share."""
