// Made of the Python package's tables by `python -m bindings.js.declarations`.

import type { Duration, Listed, Moment, Recall } from "./index.js";

/** A time that is sent: a Date, a Moment, or ISO 8601. */
export type Time = Date | string;

/** Numbers of an embedding. */
export type Vector = Float32Array | Float64Array | readonly number[];

/** How often a memory was accessed, and when last. */
export interface Accesses {
  returned: number;
  used: number;
  helped: number;
  misled: number;
  last_returned: Moment | null;
  last_used: Moment | null;
}

/** How much an agent holds, from `Store.agents`. */
export interface AgentSummary {
  id: string;
  memories: number | null;
  operations: number | null;
  written_at: Moment | null;
  bytes_on_disk: number;
}

/** Archive memories: they stay stored, and no recall returns them. */
export interface Archive {
  ids: string[];
}

/** Close a fact: no later view sees it. */
export interface ArchiveEdge {
  id: string;
  start: number | null;
  end: number | null;
}

/** What a recall found beside its memories. */
export interface Beside {
  hits: Hit<any>[];
  order: boolean[];
}

/** One place where an answer cites a memory. id: the memory's; span: [start, end) of the label. */
export interface Citation {
  label: string;
  id: string;
  span: [number, number];
  claim: string;
}

/** How a memory left the present: "archived", "amended", "corrected", "replaced", "forgotten". */
export interface Closure {
  at: Moment;
  how: string;
  by: string | null;
  why: string | null;
}

/** Another fact of the same subject and predicate that holds at the same time. */
export interface Conflict {
  id: string;
  object: string | number | boolean | Moment | Mention;
  valid: [Moment | null, Moment | null];
  evidence: string[];
  overlap: [Moment | null, Moment | null];
  relation: string;
}

/** What was consolidated, or would be. */
export interface Consolidation {
  episodes: EpisodeMade[];
  duplicates: Duplicate[];
  considered: number;
  observations: ObservationMade[];
  unobserved: string[];
}

/** Gists and facts that a tool found, best first, or in the order that was asked for. */
export interface Contexts {
  gists: Memory[];
  facts: Fact[];
  count: number | null;
  matched: number | null;
  note: string | null;
  tokens: number;
  max_tokens: number | null;
  token_counter: string;
}

/** Close an open memory and record its replacement, under the same id. */
export interface Correct {
  id: string;
  text: string | null;
  changes: Record<string, any>;
}

/** The memories, facts and events that only one of two views shows. */
export interface Difference {
  added: Memory[];
  closed: Memory[];
  added_facts: Fact[];
  closed_facts: Fact[];
  added_events: Event[];
  closed_events: Event[];
}

/** A document: its id is its URI. hashes: of its content, each time that it was read. */
export interface DocumentNode {
  id: string;
  uri: string;
  hashes: string[];
  facts: string[];
  mentions: string[];
}

/** A fact that says what another one says. kept, closed: ids. */
export interface Duplicate {
  kept: string;
  closed: string;
}

/** An entity, as one cut sees it. */
export interface Entity {
  name: string;
  aliases: string[];
  types: string[];
  recorded: boolean;
  type: "PERSON" | "ORGANIZATION" | "LOCATION" | "PRODUCT" | "CONCEPT" | "OTHER";
}

/** Two entities that were compared. */
export interface EntityMatch {
  source: string;
  target: string;
  way: string;
  score: number;
  same: boolean | null;
  decided_by: string | null;
  reason: string;
}

/** A group of events, as one cut sees it. */
export interface Episode {
  id: string;
  title: string;
  window: [Moment | null, Moment | null];
  recorded: [Moment, Moment | null];
  freshness: Moment;
  events: string[];
  by: string | null;
  why: string | null;
}

/** An episode over the events of one month that are worth little by themselves. */
export interface EpisodeMade {
  id: string;
  title: string;
  window: [Moment, Moment];
  events: string[];
}

/** What an erasure took away, or would take away. */
export interface Erasure {
  memories: number;
  passages: number;
  facts: number;
  events: number;
  op: number | null;
  recorded_at: Moment | null;
}

/** One event, as one cut sees it. */
export interface Event {
  id: string;
  summary: string;
  span: [Moment | null, Moment | null];
  status: string;
  recorded: [Moment, Moment | null];
  freshness: Moment;
  participants: Participant[];
  facts: string[];
  times: (Moment | string)[];
  mentions: Mention[];
  links: EventLink[];
  linked_from: EventLink[];
  by: string | null;
  why: string | null;
  version: number;
  evidence: FactList;
  proof_count: number;
  trust: string | null;
}

/** An edge to another event that the cut sees: its id, the relation, a qualifier. */
export interface EventLink {
  event: string;
  relation: string;
  qualifier: string | null;
}

/** What `Agent.expire` did: how many memories it forgot, and how many versions it erased. */
export interface Expiry {
  forgotten: number;
  erased: number;
}

/** What a run of `Agent.extract` did. */
export interface Extraction {
  chunks: number;
  turns: number;
  facts: string[];
  relations: Record<string, number>;
  left_out: Record<string, number>;
  failed: Record<string, number>;
}

/** One version of a fact, as one cut sees it. */
export interface Fact {
  id: string;
  subject: string;
  predicate: string;
  object: string | number | boolean | Moment | Mention;
  kind: string;
  valid: [Moment | null, Moment | null];
  recorded: [Moment, Moment | null];
  evidence: string[];
  confidence: number;
  version: number;
  source: Source | null;
  trust: string | null;
  mentions: Mention[];
  uncertainty: string | null;
  by: string | null;
  why: string | null;
  closed_by: string | null;
  closed_why: string | null;
  conflicts: Conflict[];
}

export type FactList = { facts: Fact[]; entities: number[]; op: number };

/** Forget memories: they leave every later view. */
export interface Forget {
  ids: string[];
}

/** A turn in short-term or working memory of a conversation, as it would be written. */
export interface HeardTurn {
  text: string;
  speaker: string | null;
  at: Moment;
  salience: number;
  events: string[];
  written: boolean;
}

/** Something that a search found. */
export interface Hit<Item = unknown> {
  kind: string;
  item: Item;
  text: string;
  score: number;
  ranks: Record<string, number>;
}

/** The result of `Agent.investigate`. */
export interface Investigation {
  id: string;
  question: string;
  text: string | null;
  refused: boolean;
  mode: string;
  steps: ToolCall[];
  stopped: string | null;
  gists: Memory[];
  facts: Fact[];
  error: string | null;
  tokens: number;
  token_counter: string;
  calls: number;
  messages: Record<string, string>[];
  prompt: string;
  model: string | null;
}

/** One chunk of memories, from which facts are drawn, or one thought, from which opinions are. */
export interface Job {
  id: string;
  status: "running" | "waiting" | "failed" | "done";
  turns: string[];
  document_id: string | null;
  prompt: string;
  model: string | null;
  complete: boolean;
  reason: string | null;
  attempts: number;
  facts: string[];
  tried_at: Moment | null;
}

export interface JointRecall {
  query: string;
  recalls: Record<string, Recall>;
  order: [string, number][];
  tokens: number;
  token_counter: string;
  confidence: number | null;
  readonly memories: Memory[];
  toPrompt(options?: { min_confidence?: number }): string;
}

/** Record an edge from an event to an event, an entity (by name), a time or a mention. */
export interface Link {
  source: string;
  relation: string;
  target: string | number | Moment | Mention;
  qualifier: string | null;
}

/** One operation of the log. */
export interface LogEntry {
  op: number;
  recorded_at: Moment;
  kind: string;
  by: string | null;
  why: string | null;
  ids: string[];
  payload: Record<string, any> | null;
}

/** The end of an agent's log at some time: keep it where the agent's folder is not. */
export interface LogHead {
  op: number;
  recorded_at: Moment | null;
  chain: string;
}

/** One memory, as one view shows it. Its fields are in the table of docs/recall.md. */
export interface Memory {
  id: string;
  text: string;
  passage: string;
  passages: [number, number][];
  score: number;
  event_at: Moment;
  event: [Moment, Moment];
  recorded_at: Moment;
  network: string;
  zone: string | null;
  context: string | null;
  document_id: string | null;
  speaker: string | null;
  role: string | null;
  source: string | null;
  trust: string | null;
  entities: string[];
  tags: string[];
  metadata: Record<string, any>;
  tokens: number;
  ranks: Record<string, number>;
  scores: Record<string, number>;
  parts: Record<string, number>;
  collapsed: string[];
  repeated_at: Moment[];
  valid_until: Moment | null;
  closed: Closure | null;
  replaces: Predecessor | null;
  agent: string | null;
}

/** A place in a document: its characters [start, end), and their text. */
export interface Mention {
  document: string;
  span: [number, number];
  text: string;
}

/** A place in a document: its id is made of document, span and text. */
export interface MentionNode {
  id: string;
  document: string;
  span: [number, number];
  text: string;
  facts: string[];
  events: string[];
}

/** Record that `source` is the same entity as `target`, which names both from now on. */
export interface MergeEntity {
  source: string;
  target: string;
}

/** What several facts of an entity show together. id: of the event; facts: the ids it cites. */
export interface ObservationMade {
  id: string;
  entity: string;
  text: string;
  facts: string[];
}

/** One opinion, as one view shows it. */
export interface Opinion {
  id: string;
  text: string;
  confidence: number | null;
  reasons: string[];
  evidence: string[];
  personality: Record<string, number>;
  background: string;
  formed_at: Moment;
  recorded_at: Moment;
  supersedes: string | null;
  superseded_by: string | null;
  source: string | null;
  trust: string | null;
}

/** How a recall is packed: how far and how wide the search goes, and when it stops. */
export interface Packing {
  depth: number;
  fan_out: Record<string, number>;
  coverage: number;
  seeds: number;
}

/** An entity that took part in an event, and its role. */
export interface Participant {
  name: string;
  role: string | null;
}

/** What a memory said before it was replaced, by `correct` or by a `retain` with its id. */
export interface Predecessor {
  id: string;
  text: string;
  event_at: Moment;
  recorded_at: Moment;
  closed: Closure;
}

/** Who an agent is, as one view shows it. */
export interface Profile {
  agent_id: string;
  openness: number;
  conscientiousness: number;
  extraversion: number;
  agreeableness: number;
  neuroticism: number;
  bias_strength: number;
  background: string;
  created_at: Moment | null;
  updated_at: Moment | null;
}

/** Retain a memory; its statement has an id. */
export interface Retain {
  statement: Statement;
}

/** One rule: which memories an agent does not keep. */
export interface Retention {
  network: string | null;
  age: Duration | null;
  count: number | null;
  erase: boolean;
}

/** Close a version of a fact and open the next; `changes` holds the fields that differ. */
export interface RetroCorrect {
  id: string;
  changes: Record<string, any>;
}

/** Six measures of whether a recall found an answer. Units: those of `Contextual`. */
export interface Signs {
  likeness: number;
  lead: number;
  named: number;
  misattributed: number;
  unknown: number;
  memories: number;
}

/** The document that a fact was taken from: its URI, and a hash of its content at that time. */
export interface Source {
  uri: string;
  hash: string | null;
}

/** Record that `source` is an entity of its own again: what was merged by it is parted. */
export interface SplitEntity {
  source: string;
  name: string | null;
}

/** One memory to retain. */
export interface Statement {
  text: string;
  said_at: number | null;
  id: string | null;
  network: number;
  zone: string | null;
  context: string | null;
  document: string | null;
  speaker: string | null;
  entities: string[];
  types: ([string, "PERSON" | "ORGANIZATION" | "LOCATION" | "PRODUCT" | "CONCEPT" | "OTHER"])[];
  tags: string[];
  metadata: Record<string, any>;
  valid_until: number | null;
  role: number;
  source: string | null;
  trust: number;
}

/** How much an agent holds. */
export interface Stats {
  memories: number;
  forgotten: number;
  archived: number;
  passages: number;
  entities: number;
  terms: number;
  links: number;
  facts: number;
  events: number;
  operations: number;
  tail_passages: number;
  bytes_on_disk: number;
  model: string | null;
  language: string | null;
  locale: string | null;
  zone: string | null;
  token_counter: string | null;
}

/** The events, facts and memories for a question, best first, as one cut shows them. */
export interface Subgraph {
  query: string;
  at: Moment;
  events: Event[];
  facts: Fact[];
  memories: Memory[];
  episodes: Episode[];
  conflicts: Record<string, Conflict[]>;
  coverage: number;
  stopped: string;
  tokens: number;
  max_tokens: number;
  token_counter: string;
  op: number;
}

/** A literal text; a plain str would name an entity. */
export interface Text {
  value: string;
}

/** The result of `Agent.think`. */
export interface Thought {
  id: string;
  question: string;
  text: string | null;
  refused: boolean;
  error: string | null;
  citations: Citation[];
  forged: string[];
  uncited: string[];
  violations: Violation[];
  based_on: Record<string, Memory[]>;
  profile: Profile;
  confidence: number | null;
  messages: Record<string, string>[];
  prompt: string;
  model: string | null;
}

/** One step: what a model called, and what came of it. */
export interface ToolCall {
  tool: string;
  arguments: Record<string, any>;
  reasoning: string;
  gists: string[];
  facts: string[];
  count: number | null;
  error: string | null;
  tokens: number;
  seconds: number;
}

/** The stages of one recall. */
export interface Trace {
  stages: Record<string, number>;
  errors: Record<string, string>;
  total: number;
  activated: boolean | null;
  judged: number | null;
  truncated: Record<string, number>;
}

/** Record facts, events and episodes again as they were before operation `op` of the log. */
export interface Undo {
  op: number;
}

/** Record a fact: `subject` `predicate` `object`, true in [start, end) of the world. */
export interface UpsertEdge {
  subject: string;
  predicate: string;
  object: string | number | boolean | Moment | Text | Mention;
  start: number | null;
  end: number | null;
  evidence: string[];
  source: Source | null;
  mentions: Mention[];
  confidence: number;
  uncertainty: string | null;
  given_id: string | null;
  embed: boolean;
}

/** Record an entity: its name, its other names, and its types. */
export interface UpsertEntity {
  name: string;
  aliases: string[];
  types: string[];
}

/** Record an episode: a group of events. It is visible through them and is never evidence. */
export interface UpsertEpisode {
  title: string;
  events: string[];
  start: number | null;
  end: number | null;
  given_id: string | null;
}

/** Record an event: who took part, when, and the facts that it sums up. */
export interface UpsertEvent {
  summary: string;
  participants: ([string, string | null])[];
  facts: string[];
  start: number | null;
  end: number | null;
  status: string;
  times: (number | string | Moment)[];
  mentions: Mention[];
  given_id: string | null;
}

/** How much was checked, and the problems found: none if `ok`. */
export interface Verification {
  operations: number;
  memories: number;
  passages: number;
  problems: string[];
}

/** A claim that cites what was not so at the asked time. */
export interface Violation {
  label: string;
  id: string;
  reason: string;
  holds: [Moment | null, Moment | null];
  claim: string;
}

/** Which turns of a talk become memories (MemoTrace, "Write triggers", "Budgets & GC"). */
export interface WritePolicy {
  triggers: string[];
  events: string[];
  keep: number;
  drop: number;
  name_weight: number;
  number_weight: number;
  date_weight: number;
  personal_weight: number;
  word_weight: number;
  novelty_share: number;
  question_factor: number;
  event_cap: number | null;
  salience_cap: number | null;
  periodic_cap: number | null;
  backfill_cap: number | null;
  cooldown: number;
  write_tokens: number;
  periodic_tokens: number;
  backfill_tokens: number;
  read_tokens: number;
  short_term_turns: number;
  working_turns: number;
  session_gap: Duration;
  topic_turns: number;
  topic_cosine: number | null;
  backfill_score: number;
  secrets: "keep" | "mask" | "expire" | "drop";
  cards: "keep" | "mask" | "expire" | "drop";
  emails: "keep" | "mask" | "expire" | "drop";
  phones: "keep" | "mask" | "expire" | "drop";
  addresses: "keep" | "mask" | "expire" | "drop";
  sensitive_for: Duration;
}

/** Name of a record -> what it is. */
export interface Records {
  Accesses: Accesses;
  AgentSummary: AgentSummary;
  Archive: Archive;
  ArchiveEdge: ArchiveEdge;
  Beside: Beside;
  Citation: Citation;
  Closure: Closure;
  Conflict: Conflict;
  Consolidation: Consolidation;
  Contexts: Contexts;
  Correct: Correct;
  Difference: Difference;
  DocumentNode: DocumentNode;
  Duplicate: Duplicate;
  Entity: Entity;
  EntityMatch: EntityMatch;
  Episode: Episode;
  EpisodeMade: EpisodeMade;
  Erasure: Erasure;
  Event: Event;
  EventLink: EventLink;
  Expiry: Expiry;
  Extraction: Extraction;
  Fact: Fact;
  FactList: FactList;
  Forget: Forget;
  HeardTurn: HeardTurn;
  Hit: Hit;
  Investigation: Investigation;
  Job: Job;
  JointRecall: JointRecall;
  Link: Link;
  LogEntry: LogEntry;
  LogHead: LogHead;
  Memory: Memory;
  Mention: Mention;
  MentionNode: MentionNode;
  MergeEntity: MergeEntity;
  ObservationMade: ObservationMade;
  Opinion: Opinion;
  Packing: Packing;
  Participant: Participant;
  Predecessor: Predecessor;
  Profile: Profile;
  Recall: Recall;
  Retain: Retain;
  Retention: Retention;
  RetroCorrect: RetroCorrect;
  Signs: Signs;
  Source: Source;
  SplitEntity: SplitEntity;
  Statement: Statement;
  Stats: Stats;
  Subgraph: Subgraph;
  Text: Text;
  Thought: Thought;
  ToolCall: ToolCall;
  Trace: Trace;
  Undo: Undo;
  UpsertEdge: UpsertEdge;
  UpsertEntity: UpsertEntity;
  UpsertEpisode: UpsertEpisode;
  UpsertEvent: UpsertEvent;
  Verification: Verification;
  Violation: Violation;
  WritePolicy: WritePolicy;
}

/** The base of every error. Its fields are those that the server sent. */
export class RecollexError extends Error {
  constructor(message: string, fields?: object, cause?: unknown);
}

/** Data on disk is damaged or missing. */
export class CorruptError extends RecollexError {
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

/** An encrypted agent was opened without its key, or a plain one with a key. */
export class EncryptionError extends RecollexError {
}

/** A file was written by another version, or is not ours. */
export class FormatError extends RecollexError {
}

/** Another writer, in this process or another, has the agent open. */
export class LockedError extends RecollexError {
  readonly path: string;
  readonly holder: string;
}

/** A model cannot be found, loaded or verified. */
export class ModelError extends RecollexError {
}

/** A write was attempted on a store that was opened for reading. */
export class ReadOnlyError extends RecollexError {
}

/** A reranker failed, or its answer is not one score for each text. */
export class RerankError extends RecollexError {
  readonly reranker: string;
}

/** A server did not carry out a call. */
export class ServiceError extends RecollexError {
}

/** The store, or a part of it, was moved, replaced or removed while it was open. */
export class StoreMovedError extends RecollexError {
  readonly path: string;
  readonly found: string;
}

/** A call was cancelled before it began; nothing happened. */
export class CancelledError extends ServiceError {
}

/** An argument is not acceptable; nothing was changed. */
export class InputError extends RecollexError {
}

/** A server failed unexpectedly; its log says how. */
export class InternalError extends ServiceError {
}

/** A language model did not answer, or not as it was asked; nothing was changed. */
export class LanguageModelError extends ModelError {
  readonly reason: string;
}

/** The agent was written with another embedding model. */
export class ModelMismatchError extends ModelError {
  readonly agent: string;
  readonly expected: string;
  readonly found: string;
}

/** Another node of a cluster has the agent; `address`: where, None if that is not known yet. */
export class MovedError extends ServiceError {
  readonly address: string;
}

/** The server's queue is full; `retry_after`: seconds to wait before the next try. */
export class OverloadedError extends ServiceError {
  readonly retry_after: number;
}

/** A message breaks the protocol (PROTOCOL.md). */
export class ProtocolError extends ServiceError {
}

/** The disk refused bytes: nothing of this call was stored, all earlier calls are stored. */
export class StoreFullError extends RecollexError {
}

/** The process, or the machine, may not open another file; nothing was changed. */
export class TooManyFilesError extends RecollexError {
}

/** The store or agent was closed before this call, or the process was forked from its owner. */
export class ClosedError extends InputError {
}

/** A merge would make a cycle: its target was already merged into its source. */
export class MergeCycleError extends InputError {
  readonly source: string;
  readonly target: string;
}

/** One operation of a transaction was refused, so the whole transaction was refused. */
export class OperationError extends InputError {
  readonly where: string;
}

/** The system does not let this process read or write a file; nothing was changed. */
export class AccessError extends StoreFullError {
}

/** A call timed out before its answer arrived. */
export class DeadlineError extends ServiceError {
  readonly begun: boolean;
}

/** The server cannot be reached, or went away before it answered; a write may have happened. */
export class DisconnectedError extends ServiceError {
}

/** A token does not give access to this agent, or does not allow writing. */
export class ForbiddenError extends ServiceError {
}

/** A connection or a request has no token, or one that the server does not know. */
export class UnauthorizedError extends ServiceError {
}

/** No memory, fact, event or episode has this id; `kind` says which was asked for. */
export class UnknownIdError extends InputError {
  readonly kind: string;
  readonly id: string;
  readonly agent: string;
}

export interface AgentMethods {
  /** Retain one text, and return its id. `retain_many` takes a list. */
  retain(text: string, options?: { event_at?: Time | null; zone?: string | null; context?: string | null; network?: string; document_id?: string | null; entities?: readonly string[] | Record<string, string>; tags?: readonly string[]; metadata?: Record<string, any> | null; id?: string | null; valid_until?: Time | null; recorded_at?: Time | null; embedding?: Vector | null; source?: string | null; trust?: string | null }): Promise<string>;
  /** Retain several texts, as one transaction, and return their ids in order. */
  retainMany(texts: readonly string[], options?: { event_at?: Time | readonly (Time | null)[] | null; zone?: string | readonly (string | null)[] | null; context?: string | readonly (string | null)[] | null; network?: string | readonly string[]; document_id?: string | readonly (string | null)[] | null; entities?: readonly string[] | Record<string, string> | readonly (readonly string[] | Record<string, string>)[]; tags?: readonly string[] | readonly (readonly string[])[]; metadata?: Record<string, any> | readonly Record<string, any>[] | null; id?: string | readonly (string | null)[] | null; valid_until?: Time | readonly (Time | null)[] | null; recorded_at?: Time | readonly Time[] | null; embedding?: Vector | null; source?: string | readonly (string | null)[] | null; trust?: string | readonly (string | null)[] | null }): Promise<string[]>;
  /** Retain a conversation turn by turn, as one transaction; return an id for each turn. */
  retainDialogue(turns: readonly Record<string, any>[], options: { document_id: string; context?: string | null; network?: string; tags?: readonly string[]; replace?: boolean; recorded_at?: Time | null; policy?: WritePolicy | null; source?: string | Record<string, string> | null; trust?: string | null }): Promise<string[] | (string | null)[]>;
  /** Return the memories that answer `query`, best first. */
  recall(query: string, options?: { thinking_budget?: number; max_tokens?: number | null; limit?: number | null; now?: Time | null; exact?: boolean; query_embedding?: Vector | null; preset?: string; min_confidence?: number; explain?: boolean; as_recorded?: Time | null; pack?: Packing | string | null; kinds?: string | readonly string[]; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<Recall>;
  /** Return a recall for each query, in order; the options are those of `recall`. */
  recallMany(queries: readonly string[], options?: { thinking_budget?: number; max_tokens?: number | null; limit?: number | null; now?: Time | null; exact?: boolean; query_embedding?: Vector | null; preset?: string; min_confidence?: number; explain?: boolean; as_recorded?: Time | null; pack?: Packing | string | null; kinds?: string | readonly string[]; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Listed<Recall[], (Recall[])[number]>;
  /** Return the memory with this id, archived or not. */
  get(id: string, default_?: any): Promise<any>;
  get(id: string, options?: { default?: any }): Promise<any>;
  /** Return up to `limit` memories in the order in which they were recorded. */
  list(options?: { after?: string | null; limit?: number; newest?: boolean; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Listed<Memory[], (Memory[])[number]>;
  /** Return how many memories there are, archived ones not counted. */
  count(options?: { tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<number>;
  /** Return the distinct values of a field, and how many memories have each. */
  valueCounts(field: string, options?: { tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<Record<string, number>>;
  /** Return every version of a memory, oldest first; `closed` of each says how it ended. */
  history(id: string): Listed<Memory[], (Memory[])[number]>;
  /** Return the operations of this agent's log, in order. */
  log(options?: { since?: Time | null; until?: Time | null; op?: string | readonly string[] | null }): Listed<LogEntry[], (LogEntry[])[number]>;
  /** Return the difference of what was known at two recorded times. */
  diff(earlier: Time, later?: Time | null): Promise<Difference>;
  diff(earlier: Time, options?: { later?: Time | null }): Promise<Difference>;
  /** Return how much the agent holds: memories, facts, bytes. */
  stats(): Promise<Stats>;
  /** Return the end of the log, for `verify`: the last operation and the hash of all up to it. */
  head(): Promise<LogHead>;
  /** Check the hash chain of the log, and the columns and indexes against the log. */
  verify(options?: { head?: LogHead | string | null }): Promise<Verification>;
  /** Merge what was retained lately into the indexes now, not later in the background. */
  checkpoint(): Promise<null>;
  /** Forget memories, as one transaction: nothing returns them from now on. Return how many. */
  forget(id?: string | readonly string[] | null, options?: { by?: string | null; why?: string | null; recorded_at?: Time | null; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<number>;
  forget(options?: { id?: string | readonly string[] | null; by?: string | null; why?: string | null; recorded_at?: Time | null; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<number>;
  /** Erase memories: their bytes are taken out of every file of the agent, for good. */
  erase(id: string | readonly string[] | null, options: { everything?: boolean; by: string; why: string; preview?: boolean; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<Erasure>;
  erase(options: { id?: string | readonly string[] | null; everything?: boolean; by: string; why: string; preview?: boolean; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; document_id?: string | readonly string[] | null; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<Erasure>;
  /** Archive one memory or several, as one transaction: they are kept, but not recalled. */
  archive(id: string | readonly string[], options?: { by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Return the retention rules in force; [] if all memories are kept, as at first. */
  retention(): Promise<Retention[]>;
  /** Set all retention rules of the agent; [] keeps everything from now on. */
  setRetention(rules: readonly Retention[], options?: { by?: string | null; why?: string | null }): Promise<null>;
  /** Forget what is due by the rules now, and erase what rules with `erase` let go. */
  expire(): Promise<Expiry>;
  /** Record that memories were used in an answer, and perhaps whether they helped. */
  used(ids: string | readonly string[], options?: { helped?: boolean | null }): Promise<null>;
  /** Return how often a memory was returned and used, in all its versions, and when last. */
  accesses(id: string): Promise<Accesses>;
  /** Correct a memory: it keeps its id, and its text is `text` from now on. */
  correct(id: string, text: string, options?: { event_at?: Time | null; network?: string | null; context?: string | null; tags?: readonly string[] | null; metadata?: Record<string, any> | null; valid_until?: Time | null; by?: string | null; why?: string | null; recorded_at?: Time | null; embedding?: Vector | null; source?: string | null; trust?: string | null }): Promise<null>;
  /** Change the tags, metadata, end of validity or zone of a memory; its text stays. */
  amend(id: string, options?: { tags?: readonly string[] | null; metadata?: Record<string, any> | null; valid_until?: Time | null; zone?: string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Record operations given as JSON objects, as one transaction; see `recollex.api.dsl`. */
  apply(operations: readonly Record<string, any>[], options?: { by?: string | null; why?: string | null; recorded_at?: Time | null; source?: string | null; trust?: string | null }): Promise<number>;
  /** Return what the agent thinks about `question`, in its own character (Memora 4.3). */
  think(question: string, options?: { thinking_budget?: number; max_tokens?: number; context?: string | null; min_confidence?: number; trust?: string | null; now?: Time | null; form_opinions?: boolean }): Promise<Thought>;
  /** Draw facts from what was retained and not yet read; return what was done (TEMPR 2.2). */
  extract(options?: { mode?: string | null; document_id?: string | readonly string[] | null; again?: boolean }): Promise<Extraction>;
  /** Take back what the comparison of a new fact with known ones has done. */
  undoComparison(id: string, options?: { by?: string | null; why?: string | null }): Promise<null>;
  /** Return what the agent finds out about `question` by its tools (REMem 3.2). */
  investigate(question: string, options?: { max_steps?: number; mode?: string; max_tokens?: number; reasoning?: string; now?: Time | null }): Promise<Investigation>;
  /** Return `Agent.profile.get` (Memora 4.2). */
  getAgentProfile(): Promise<Profile>;
  /** Return `Agent.profile.merge_background` (Memora 4.4). */
  mergeAgentBackground(new_info: string): Promise<Profile>;
  /** Record the operations of a transaction, when the block of `Agent.transaction` ends. */
  transact(operations: readonly any[], notes: readonly any[], recorded_at?: number | null, where?: readonly string[] | null): Promise<number>;
  transact(operations: readonly any[], notes: readonly any[], options?: { recorded_at?: number | null; where?: readonly string[] | null }): Promise<number>;
}

export interface FactMethods {
  /** Return the version of a fact that the cut shows. Raises `errors.UnknownIdError`. */
  get(id: string, options?: { as_recorded?: Time | null; as_world?: Time | null }): Promise<Fact>;
  /** Return every version of a fact, oldest first. Raises `errors.UnknownIdError`. */
  history(id: string, options?: { as_recorded?: Time | null }): Listed<Fact[], (Fact[])[number]>;
  /** Return the facts that meet all of the conditions, in recorded order. */
  find(options?: { order_by?: string; descending?: boolean; limit?: number | null; offset?: number; as_recorded?: Time | null; as_world?: Time | null; subject?: string | null; predicate?: string | null; object?: number | boolean | Time | Text | Mention | null; evidence?: string | readonly string[] | null; start?: Time | Record<string, Time | boolean> | null; end?: Time | Record<string, Time | boolean> | null; during?: readonly (Time | null)[] | string | null; overlaps?: readonly (Time | null)[] | string | null; relation?: string | null; to?: readonly (Time | null)[] | string | null }): Listed<FactList, Fact>;
  /** Return how many facts meet all of the conditions, which are those of `find`. */
  count(options?: { distinct?: string | null; as_recorded?: Time | null; as_world?: Time | null; subject?: string | null; predicate?: string | null; object?: number | boolean | Time | Text | Mention | null; evidence?: string | readonly string[] | null; start?: Time | Record<string, Time | boolean> | null; end?: Time | Record<string, Time | boolean> | null; during?: readonly (Time | null)[] | string | null; overlaps?: readonly (Time | null)[] | string | null; relation?: string | null; to?: readonly (Time | null)[] | string | null }): Promise<number>;
  /** Return the different values of a field of facts, and how many facts have each. */
  valueCounts(field: string, options?: { as_recorded?: Time | null; as_world?: Time | null; subject?: string | null; predicate?: string | null; object?: number | boolean | Time | Text | Mention | null; evidence?: string | readonly string[] | null; start?: Time | Record<string, Time | boolean> | null; end?: Time | Record<string, Time | boolean> | null; during?: readonly (Time | null)[] | string | null; overlaps?: readonly (Time | null)[] | string | null; relation?: string | null; to?: readonly (Time | null)[] | string | null }): Promise<Record<string, number>>;
  /** Return the `limit` facts that say most of what `query` asks for, best first. */
  search(query: string, options?: { limit?: number; query_embedding?: Vector | null; as_recorded?: Time | null; as_world?: Time | null; subject?: string | null; predicate?: string | null; object?: number | boolean | Time | Text | Mention | null; evidence?: string | readonly string[] | null; start?: Time | Record<string, Time | boolean> | null; end?: Time | Record<string, Time | boolean> | null; during?: readonly (Time | null)[] | string | null; overlaps?: readonly (Time | null)[] | string | null; relation?: string | null; to?: readonly (Time | null)[] | string | null }): Listed<Hit<Fact>[], (Hit<Fact>[])[number]>;
  /** Return the `limit` entities whose names are nearest to a text, best first. */
  searchEntities(query: string, options?: { limit?: number; query_embedding?: Vector | null; as_recorded?: Time | null; as_world?: Time | null }): Listed<Hit<Entity>[], (Hit<Entity>[])[number]>;
  /** Return the entities whose names are similar to that of an entity, with the cosine. */
  synonyms(name: string, options?: { as_recorded?: Time | null; as_world?: Time | null }): Listed<[string, number][], ([string, number][])[number]>;
  /** Return every fact that the cut shows, in recorded order; each is read when it is used. */
  snapshot(options?: { as_recorded?: Time | null; as_world?: Time | null }): Listed<FactList, Fact>;
  /** Return the pairs of facts that contradict each other: see `Fact.conflicts`. */
  conflicts(options?: { subject?: string | null; predicate?: string | null; as_recorded?: Time | null; as_world?: Time | null }): Listed<[Fact, Fact][], ([Fact, Fact][])[number]>;
  /** Return the entity of a name. Raises `errors.UnknownIdError` if the cut hides it. */
  entity(name: string, options?: { mentioned?: boolean; as_recorded?: Time | null; as_world?: Time | null }): Promise<Entity>;
  /** Return every entity that the cut shows, in the order in which they were first named. */
  entities(options?: { type?: string | null; mentioned?: boolean; as_recorded?: Time | null; as_world?: Time | null }): Listed<Entity[], (Entity[])[number]>;
  /** Return the documents that facts were taken from or that mentions lie in, as nodes. */
  documents(options?: { as_recorded?: Time | null; as_world?: Time | null }): Listed<DocumentNode[], (DocumentNode[])[number]>;
  /** Return the places in documents that visible facts and events rest on, as nodes. */
  mentions(options?: { document?: string | null; as_recorded?: Time | null; as_world?: Time | null }): Listed<MentionNode[], (MentionNode[])[number]>;
  /** Record that `subject` `predicate` `object`, and return the fact's id (UPSERT_EDGE). */
  add(subject: string, predicate: string, object: number | boolean | Time | Text | Mention, options?: { valid?: readonly (Time | null)[] | string | null; evidence?: string | readonly string[]; source?: Source | null; mentions?: readonly Mention[]; confidence?: number; uncertainty?: string | null; id?: string | null; embed?: boolean; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<string>;
  /** Correct a fact: close its version and open the next, both in its history (RETRO_CORRECT). */
  correct(id: string, options?: { object?: number | boolean | Time | Text | Mention; valid?: readonly (Time | null)[] | string; valid_start?: Time | null; valid_end?: Time | null; evidence?: string | readonly string[]; source?: Source | null; mentions?: readonly Mention[]; confidence?: number; uncertainty?: string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Close a fact, for all of its valid time or for a part of it (ARCHIVE_EDGE). */
  archive(id: string, options?: { during?: readonly (Time | null)[] | string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Record an entity, with its other names and its types (UPSERT_ENTITY). */
  addEntity(name: string, options?: { aliases?: readonly string[]; types?: readonly string[]; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Record that two entities are one, called `target` from now on (MERGE_ENTITY). */
  merge(source: string, target: string, options?: { by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Record that an entity is one of its own, not another (SPLIT_ENTITY). */
  split(source: string, options?: { name?: string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Find entities that are one, make them one, and return what was compared. */
  resolveEntities(options?: { preview?: boolean; by?: string | null; recorded_at?: Time | null }): Promise<EntityMatch[]>;
  /** Undo an operation on facts, events or episodes; return the number of records made. */
  undo(op: number, options?: { by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<number>;
}

export interface EventMethods {
  /** Return an event. Raises `errors.UnknownIdError` if the cut does not show it. */
  get(id: string, options?: { as_recorded?: Time | null; as_world?: Time | null }): Promise<Event>;
  /** Return every version of an event, oldest first, with the facts that it rested on then. */
  history(id: string, options?: { as_recorded?: Time | null }): Listed<Event[], (Event[])[number]>;
  /** Return the events that meet all of the conditions, in the order of their first record. */
  find(options?: { participant?: string | null; fact?: string | null; status?: string | null; during?: readonly (Time | null)[] | string | null; overlaps?: readonly (Time | null)[] | string | null; as_recorded?: Time | null; as_world?: Time | null }): Listed<Event[], (Event[])[number]>;
  /** Return the `limit` events that say most of what `query` asks for, best first. */
  search(query: string, options?: { limit?: number; participant?: string | null; status?: string | null; overlaps?: readonly (Time | null)[] | string | null; query_embedding?: Vector | null; as_recorded?: Time | null; as_world?: Time | null }): Listed<Hit<Event>[], (Hit<Event>[])[number]>;
  /** Return the `limit` episodes whose title says most of what `query` asks for. */
  searchEpisodes(query: string, options?: { limit?: number; query_embedding?: Vector | null; as_recorded?: Time | null; as_world?: Time | null }): Listed<Hit<Episode>[], (Hit<Episode>[])[number]>;
  /** Return an episode. Raises `errors.UnknownIdError` if the cut shows none of its events. */
  getEpisode(id: string, options?: { as_recorded?: Time | null; as_world?: Time | null }): Promise<Episode>;
  /** Return the episodes that the cut shows; with `event`, an id, those that hold it. */
  episodes(options?: { event?: string | null; as_recorded?: Time | null; as_world?: Time | null }): Listed<Episode[], (Episode[])[number]>;
  /** Record an event and return its id (UPSERT_EVENT). */
  add(summary: string, options?: { participants?: Record<string, string | null> | readonly (string | [string, string | null])[]; facts?: string | readonly string[]; span?: readonly (Time | null)[] | string | null; status?: string; times?: readonly Time[]; mentions?: readonly Mention[]; id?: string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<string>;
  /** Link an event to another event, a participant, a time or a mention (LINK). */
  link(source: string, relation: string, target: Time | Mention, options?: { qualifier?: string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<null>;
  /** Record an episode over events and return its id (UPSERT_EPISODE). */
  addEpisode(title: string, events: string | readonly string[], options?: { window?: readonly (Time | null)[] | string | null; id?: string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<string>;
  /** Compress old events into episodes, and unite facts that say the same; return what. */
  consolidate(options?: { age?: Duration; threshold?: number; least_facts?: number | null; preview?: boolean; by?: string | null; recorded_at?: Time | null }): Promise<Consolidation>;
}

export interface SessionMethods {
  /** Return the latest turns of a conversation, written or not, in order. */
  shortTerm(document_id: string): Listed<HeardTurn[], (HeardTurn[])[number]>;
  /** Return the turns of a conversation that wait to be written or dropped, in order. */
  working(document_id: string): Listed<HeardTurn[], (HeardTurn[])[number]>;
  /** End a conversation's session, and return the ids of the memories that were written. */
  end(document_id: string, options?: { recorded_at?: Time | null }): Promise<string[]>;
  /** Return `Agent.recall` within the policy's `read_tokens`, after a backfill if needed. */
  recall(query: string, options?: { document_id?: string | readonly string[] | null; recorded_at?: Time | null; thinking_budget?: number; max_tokens?: number | null; limit?: number | null; now?: Time | null; exact?: boolean; query_embedding?: Vector | null; preset?: string; min_confidence?: number; explain?: boolean; as_recorded?: Time | null; pack?: Packing | string | null; kinds?: string | readonly string[]; tags?: readonly string[]; any_tags?: readonly string[]; no_tags?: readonly string[]; talk?: string | readonly string[] | null; network?: string | readonly string[] | null; roles?: string | readonly string[] | null; speakers?: string | readonly string[] | null; source?: string | readonly string[] | null; trust?: string | null; entities?: readonly string[]; since?: Time | null; until?: Time | null; recorded_since?: Time | null; recorded_until?: Time | null; ends_after?: Time | null; ends_by?: Time | null; as_world?: Time | null; where?: Record<string, any> | null }): Promise<Recall>;
  /** Write the turns that are similar to a question which `recall` leaves open. */
  backfill(recall: Recall, options: { document_id: string; because?: "abstention" | "temporal conflict" | null; cut?: "as_recorded" | "as_world" | null; recorded_at?: Time | null }): Promise<string[]>;
  /** Forget the sensitive turns whose time to live is over, and return their ids. */
  forgetExpired(options?: { recorded_at?: Time | null }): Promise<string[]>;
}

export interface ProfileMethods {
  /** Return the profile: 0.5 for every trait and no background, where nothing was set. */
  get(options?: { as_recorded?: Time | null }): Promise<Profile>;
  /** Set parts of the profile, as one transaction, and return all of it. */
  set(options?: { openness?: number | null; conscientiousness?: number | null; extraversion?: number | null; agreeableness?: number | null; neuroticism?: number | null; bias_strength?: number | null; background?: string | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<Profile>;
  /** Merge what is new into the background, and return the profile (Memora 4.4). */
  mergeBackground(content: string, options?: { by?: string | null; why?: string | null }): Promise<Profile>;
}

export interface OpinionMethods {
  /** Return an opinion, superseded or not. Raises `errors.UnknownIdError`. */
  get(id: string): Promise<Opinion>;
  /** Return how an opinion came about: all that one superseded another, oldest first. */
  chain(id: string): Listed<Opinion[], (Opinion[])[number]>;
  /** Return the opinions that are held now, in the order in which they were recorded. */
  find(options?: { min_confidence?: number; after?: string | null; limit?: number }): Listed<Opinion[], (Opinion[])[number]>;
  /** Form an opinion under the agent's present profile, and return its id. */
  form(text: string, options: { confidence: number; reasons?: string | readonly string[]; evidence?: string | readonly string[]; entities?: readonly string[]; supersedes?: string | null; formed_at?: Time | null; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<string>;
  /** Weigh an opinion against memories for and against it; return the id of what it becomes. */
  weigh(id: string, options?: { supporting?: string | readonly string[]; contradicting?: string | readonly string[]; by?: string | null; why?: string | null; recorded_at?: Time | null }): Promise<string>;
  /** Wait until the opinions that `Agent.think` forms are recorded; return whether they are. */
  wait(seconds?: number | null): Promise<boolean>;
  wait(options?: { seconds?: number | null }): Promise<boolean>;
}

export interface JobMethods {
  /** Return jobs: those that are left, chunks before thoughts, then those that are done. */
  find(options?: { status?: string | readonly string[]; mode?: string | null; limit?: number }): Listed<Job[], (Job[])[number]>;
  /** Wait until nothing of the agent runs in the background; return whether nothing does. */
  wait(seconds?: number | null): Promise<boolean>;
  wait(options?: { seconds?: number | null }): Promise<boolean>;
}

export interface ToolMethods {
  /** Return the gists and facts that are nearest to a question in meaning, best first. */
  semanticRetrieve(query: string, start_time?: Time | null, end_time?: Time | null, start_operator?: string, end_operator?: string, options?: { limit?: number; max_tokens?: number | null; query_embedding?: Vector | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  semanticRetrieve(query: string, options?: { start_time?: Time | null; end_time?: Time | null; start_operator?: string; end_operator?: string; limit?: number; max_tokens?: number | null; query_embedding?: Vector | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  /** Return the gists and facts that share most with the words of a question, best first. */
  lexicalRetrieve(query: string, start_time?: Time | null, end_time?: Time | null, start_operator?: string, end_operator?: string, options?: { limit?: number; max_tokens?: number | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  lexicalRetrieve(query: string, options?: { start_time?: Time | null; end_time?: Time | null; start_operator?: string; end_operator?: string; limit?: number; max_tokens?: number | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  /** Return the gists related to a gist, and the facts of the chunk that it was made of. */
  findGistContexts(gist_id: string, start_time?: Time | null, end_time?: Time | null, start_operator?: string, end_operator?: string, options?: { limit?: number; max_tokens?: number | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  findGistContexts(gist_id: string, options?: { start_time?: Time | null; end_time?: Time | null; start_operator?: string; end_operator?: string; limit?: number; max_tokens?: number | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  /** Return the facts with these parts, or their number, and the gists that they cite. */
  findEntityContexts(subject?: string | null, object?: string | number | boolean | null, predicate?: string | null, start_time?: Time | null, end_time?: Time | null, start_operator?: string, end_operator?: string, limit?: number | null, ordering?: string | null, offset?: number | null, aggregation?: string | null, options?: { max_tokens?: number | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  findEntityContexts(options?: { subject?: string | null; object?: string | number | boolean | null; predicate?: string | null; start_time?: Time | null; end_time?: Time | null; start_operator?: string; end_operator?: string; limit?: number | null; ordering?: string | null; offset?: number | null; aggregation?: string | null; max_tokens?: number | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts>;
  /** Return the answer as text: by this tool a model ends its search. */
  outputAnswer(answer: string | number | boolean): Promise<string>;
  /** Carry out what a language model asked for: one of `schemas`, by its name. */
  call(name: string, arguments: Record<string, any>, options?: { max_tokens?: number | null; as_recorded?: Time | null; as_world?: Time | null }): Promise<Contexts | string>;
  /** Return the tools as JSON Schemas, made from their signatures. */
  schemas(form?: string): Promise<Record<string, any>[]>;
  schemas(options?: { form?: string }): Promise<Record<string, any>[]>;
}

/** The groups of an agent. */
export interface Groups {
  readonly facts: FactMethods;
  readonly events: EventMethods;
  readonly sessions: SessionMethods;
  readonly profile: ProfileMethods;
  readonly opinions: OpinionMethods;
  readonly jobs: JobMethods;
  readonly tools: ToolMethods;
}
