"""Many machines, one memory: the agents of a store, each owned by one node of a cluster at a time.

An object store holds the truth, and any number of equal nodes answer from folders of their own. See
docs/cluster.md.
"""
