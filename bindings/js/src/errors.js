// Made of the Python package's tables by `python -m bindings.js.declarations`.

/** The base of every error. Its fields are those that the server sent. */
export class RecollexError extends Error {
  constructor(message, fields = {}, cause = undefined) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, fields);
    this.name = new.target.name;
  }
}

/** Data on disk is damaged or missing. */
export class CorruptError extends RecollexError {}

/** An encrypted agent was opened without its key, or a plain one with a key. */
export class EncryptionError extends RecollexError {}

/** A file was written by another version, or is not ours. */
export class FormatError extends RecollexError {}

/** Another writer, in this process or another, has the agent open. */
export class LockedError extends RecollexError {}

/** A model cannot be found, loaded or verified. */
export class ModelError extends RecollexError {}

/** A write was attempted on a store that was opened for reading. */
export class ReadOnlyError extends RecollexError {}

/** A reranker failed, or its answer is not one score for each text. */
export class RerankError extends RecollexError {}

/** A server did not carry out a call. */
export class ServiceError extends RecollexError {}

/** The store, or a part of it, was moved, replaced or removed while it was open. */
export class StoreMovedError extends RecollexError {}

/** A call was cancelled before it began; nothing happened. */
export class CancelledError extends ServiceError {}

/** An argument is not acceptable; nothing was changed. */
export class InputError extends RecollexError {}

/** A server failed unexpectedly; its log says how. */
export class InternalError extends ServiceError {}

/** A language model did not answer, or not as it was asked; nothing was changed. */
export class LanguageModelError extends ModelError {}

/** The agent was written with another embedding model. */
export class ModelMismatchError extends ModelError {}

/** Another node of a cluster has the agent; `address`: where, None if that is not known yet. */
export class MovedError extends ServiceError {}

/** The server's queue is full; `retry_after`: seconds to wait before the next try. */
export class OverloadedError extends ServiceError {}

/** A message breaks the protocol (PROTOCOL.md). */
export class ProtocolError extends ServiceError {}

/** The disk refused bytes: nothing of this call was stored, all earlier calls are stored. */
export class StoreFullError extends RecollexError {}

/** The process, or the machine, may not open another file; nothing was changed. */
export class TooManyFilesError extends RecollexError {}

/** The store or agent was closed before this call, or the process was forked from its owner. */
export class ClosedError extends InputError {}

/** A merge would make a cycle: its target was already merged into its source. */
export class MergeCycleError extends InputError {}

/** One operation of a transaction was refused, so the whole transaction was refused. */
export class OperationError extends InputError {}

/** The system does not let this process read or write a file; nothing was changed. */
export class AccessError extends StoreFullError {}

/** A call timed out before its answer arrived. */
export class DeadlineError extends ServiceError {}

/** The server cannot be reached, or went away before it answered; a write may have happened. */
export class DisconnectedError extends ServiceError {}

/** A token does not give access to this agent, or does not allow writing. */
export class ForbiddenError extends ServiceError {}

/** A connection or a request has no token, or one that the server does not know. */
export class UnauthorizedError extends ServiceError {}

/** No memory, fact, event or episode has this id; `kind` says which was asked for. */
export class UnknownIdError extends InputError {}
