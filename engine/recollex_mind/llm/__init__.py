"""Language models: one door to any of them, and the prompts that are sent through it."""
