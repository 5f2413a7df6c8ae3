// Made of the Python package's tables by `python -m bindings.js.declarations`.

/** Rows of the column `numbers`. */
export const ROWS = 6;

/** The fields of a memory that columns of their own, or rows of `numbers`, hold. */
export const FIELDS = [
  {"name": "passage", "form": "passage"},
  {"name": "passages", "form": "spans"},
  {"name": "event_at", "form": "moment", "row": 0},
  {"name": "event", "form": "event", "row": 1},
  {"name": "recorded_at", "form": "moment", "row": 3},
  {"name": "network", "form": "named", "row": 4, "names": ["world", "agent", "opinion"]},
  {"name": "zone", "form": "plain"},
  {"name": "context", "form": "plain"},
  {"name": "document_id", "form": "plain"},
  {"name": "speaker", "form": "plain"},
  {"name": "role", "form": "named", "absent": 0, "names": [null, "user", "assistant", "system", "tool"]},
  {"name": "source", "form": "plain"},
  {"name": "trust", "form": "named", "absent": 0, "names": [null, "web", "tool", "assistant", "user"]},
  {"name": "entities", "form": "plain", "absent": []},
  {"name": "tags", "form": "plain", "absent": []},
  {"name": "metadata", "form": "json", "absent": ""},
  {"name": "tokens", "form": "plain", "row": 5},
  {"name": "ranks", "form": "ranks"},
  {"name": "scores", "form": "plain", "absent": {}},
  {"name": "parts", "form": "plain", "absent": {}},
  {"name": "collapsed", "form": "plain", "absent": []},
  {"name": "repeated_at", "form": "moments", "absent": []},
  {"name": "valid_until", "form": "moment"},
  {"name": "closed", "form": "closure"},
  {"name": "replaces", "form": "predecessor"},
];
