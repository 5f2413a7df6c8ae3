"""How does an open writer erase? It has the files rewritten, and opens them again."""

from dataclasses import asdict

from recollex_engine.domain.ids import ERASED_IDS, erased_ids, new_key
from recollex_engine.domain.schema import ERASE
from recollex_engine.log.reader import LogOperation, last_of_kind
from recollex_engine.writing.erasure import Intent, begun, finish, read_plan, remove_intent
from recollex_engine.writing.erasure_plan import Counts, Erasing
from recollex_engine.writing.lexicon import Lexicon
from recollex_engine.writing.writer import Writer


def erase_with(
    writer: Writer, erasing: Erasing, note: dict[str, str]
) -> tuple[Counts, LogOperation | None]:
    """Erase memories from every file; return the counts, and the operation that says so.

    The caller has held ``writer.lock`` since it chose what to erase. No checkpoint runs and no
    graph is built meanwhile. See `erasure`. If it fails midway, the writer refuses every later
    write, and the next opening completes the erasure. None for an erasure of nothing.
    """
    folder = writer.log.folder.parent
    writer.log.sync()
    plan = read_plan(writer.log.folder, erasing)[0]
    counts = plan.counts
    if not any(asdict(counts).values()) and not erasing.everything:
        return counts, None
    at = max(writer.clock(), writer.log.position.recorded_at + 1, writer.shown + 1)
    payload = note | asdict(counts)
    if erasing.everything:
        payload["everything"] = True
    if plan.ids:
        last = last_of_kind(writer.log.folder, ERASE)
        said = {} if last is None or last.payload is None else last.payload
        key = said.get(ERASED_IDS, {}).get("key") or new_key()  # one key: one digest an id to ask
        payload[ERASED_IDS] = erased_ids(key, plan.ids)
    intent = Intent(writer.log.position.op + 1, at, erasing, payload)
    intent.write(folder)
    try:
        finish(folder, intent, writer.log)
        # Before the intent is removed: a backup without it reads as far as COMMIT, and would have
        # the stubs, but not the operation that says so.
        writer.commit_word.op = intent.op
        remove_intent(folder)
        generation = max(writer.replica.generation, writer.commit_word.generation)
        replica = writer.started_again()
        replica.generation = max(replica.generation, generation)
        writer.replica, writer.lexicon = replica, Lexicon()
    except OSError as error:
        writer.log.poison(error)
        raise begun(error, folder) from error
    except BaseException as error:
        writer.log.poison(error)
        raise
    return counts, LogOperation(intent.op, at, ERASE, payload)
