"""One score for each candidate, and what is done to a list of scores afterwards."""
