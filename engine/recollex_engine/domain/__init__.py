"""What may be said to an agent, checked at the edge: statements, facts, operations, questions."""
