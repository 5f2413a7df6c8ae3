"""Files on disk: columns, dictionaries, arrays, vectors, locks, the commit word, flushing."""
