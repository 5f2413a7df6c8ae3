"""Pages in a browser, and the data that they draw."""
