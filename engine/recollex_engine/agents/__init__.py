"""The store and its agents: opening, cuts, history, snapshots, verification, statistics."""
