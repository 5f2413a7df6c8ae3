"""The socket server: one process serves many agents to many clients."""
