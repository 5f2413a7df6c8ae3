"""Which memories are gists, and of what were they made? Their metadata says so.

A gist is a short statement of what happened (REMem 3.1). Importers write gists, and a language
model draws them from talks; any other memory is its own gist. `schema.EVIDENCE` names the metadata
that lists the ids of the memories from which a gist or a fact was drawn.
"""

KIND = "kind"
GIST = "gist"
"""The name of the metadata, and its value."""
SYNONYMY = 0.8
"""The least similarity of two gists, or of two phrases, that a synonymy edge joins (REMem 5.2)."""
CHUNK = "chunk"
"""The metadata that names the chunk of a talk from which a gist was drawn."""
