"""What the ranking tables share: asking a bank, measures, trials, pages."""
