"""The same memory over HTTP: Memora's REST API (its section 6), cuts, and what operators need."""
