"""Writing to an agent: plans, drafts, the writer; checkpoints, graphs and restoration."""
