"""Other processes reach a store: messages, client, socket server, HTTP."""
