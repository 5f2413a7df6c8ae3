"""A server for many agents: one process owns a store, and clients call it from afar."""
