"""Answering a question: the pipeline, the memories that it returns, and packed subgraphs."""
