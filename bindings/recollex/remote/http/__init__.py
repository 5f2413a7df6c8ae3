"""The HTTP server: Memora's REST API (its section 6), cuts, and pages for operators."""
