"""The server: one process owns a store, and remote clients call the agents in it."""
