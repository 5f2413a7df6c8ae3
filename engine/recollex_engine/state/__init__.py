"""What an agent's operations add up to: columns, indexes, and the view that one reader has."""
