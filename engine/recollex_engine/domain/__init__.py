"""What callers give an agent, checked once: statements, facts, operations, questions."""
