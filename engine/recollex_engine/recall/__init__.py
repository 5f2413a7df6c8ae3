"""How a question is answered: the pipeline, the memories it returns, and packed subgraphs."""
