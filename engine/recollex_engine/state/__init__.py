"""The state of an agent: columns and indexes made from its operations, and views of them."""
