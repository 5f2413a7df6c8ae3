"""Files on disk: columns, dictionaries, arrays, locks, the word that publishes, and flushing."""
