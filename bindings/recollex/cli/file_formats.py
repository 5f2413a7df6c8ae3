"""What the help of `ingest` and `apply` says of the files that they read."""

JSONL = """
formats, found by the content: JSON lines (jsonl), or a list of their objects (json); ChatGPT's
conversations.json (chatgpt); LangChain's histories (langchain); memories of mem0 (mem0); Letta's
agent files (letta); tables with a column of texts (csv, parquet). With facts: subject, predicate
and object with times (triples), calendars (ics).
What is left out is counted. Reading a file again stores nothing twice.

each line of jsonl is an object, a memory or a turn of talk:
  {"text": ...}, and any of event_at and entities
  {"speaker": ..., "text": ..., "at": ...}, and perhaps the caption of its picture
  {"role": ..., "content": ...} as chat APIs have it, and perhaps at, name and tool_calls
and any of id, metadata, document_id, context, network, tags, recorded_at. Turns that name no
document get --document, else the file's name. Reading a file again stores nothing twice where its
lines carry ids. A batch is lines of one kind, one document and one recorded_at."""

OPERATIONS = """
each line of the file is an operation, a transaction by itself:
  {"op": "UPSERT_EDGE", "subject": "Alice", "predicate": "works_at", "object": "Google",
   "valid": ["2023-11-06", null], "by": "importer", "why": "her mail of the 6th"}
and the others: RETAIN, CORRECT, ARCHIVE, FORGET, UPSERT_ENTITY, MERGE_ENTITY, SPLIT_ENTITY,
ARCHIVE_EDGE, RETRO_CORRECT, UPSERT_EVENT, LINK, UPSERT_EPISODE. Lines between {"op": "BEGIN"} and
{"op": "COMMIT"} are one transaction: all of them are recorded, at one time, or none. The whole
file is checked first; an operation that is refused then leaves the transactions before it."""
