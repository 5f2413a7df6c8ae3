import type {
  AgentMethods,
  AgentSummary,
  Beside,
  Groups,
  JointRecall,
  Memory,
  Records,
  Signs,
  Subgraph,
  Trace,
} from "./types.js";

export * from "./types.js";

/** The version of this package. */
export const VERSION: string;

/** A time with microseconds. It is a Date, so that all that takes a Date takes it. */
export class Moment extends Date {
  constructor(micros: bigint, zone?: string | null);
  /** The microseconds since 1970 UTC. */
  readonly micros: bigint;
  /** The zone of a time that has one of its own, such as "Europe/Rome"; else null. */
  readonly zone: string | null;
}

/** A span of time: `new Duration({ days: 30 })`. */
export class Duration {
  constructor(parts?: {
    days?: number;
    hours?: number;
    minutes?: number;
    seconds?: number;
    micros?: bigint;
  });
  readonly micros: bigint;
  readonly seconds: number;
}

/**
 * The result of a method that lists. `await` gives the whole list; `for await` gives each item as
 * it comes, so that a long list is never in memory as a whole.
 */
export class Listed<Whole, Item> implements PromiseLike<Whole>, AsyncIterable<Item> {
  then<A = Whole, B = never>(
    resolved?: ((value: Whole) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B>;
  catch<B = never>(
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<Whole | B>;
  finally(done?: (() => void) | null): Promise<Whole>;
  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined>;
}

/** What a question recalled: its memories, best first. It can be iterated. */
export class Recall implements Iterable<Memory> {
  readonly query: string;
  readonly memories: Memory[];
  readonly length: number;
  readonly ids: string[];
  readonly tokens: number;
  readonly token_counter: string;
  readonly time_range: [Moment, Moment] | null;
  readonly confidence: number | null;
  readonly signs: Signs | null;
  readonly trace: Trace | null;
  readonly subgraph: Subgraph | null;
  readonly beside: Beside | null;
  readonly op: number;
  [Symbol.iterator](): Iterator<Memory>;
  /** The memories as text for a language model: one dated line each, best first. */
  toPrompt(options?: { min_confidence?: number }): string;
}

/** One agent's memory, from `Store.agent`. */
export interface Agent extends AgentMethods, Groups {
  readonly name: string;
  /** The agent as of a recorded time. A Date has milliseconds; a Moment of an answer is exact. */
  at(recorded: Date): Agent;
  /** The agent with a timeout for each call, retries included. */
  within(seconds: number): Agent;
  /** The agent with a signal that aborts its calls: one that has begun is finished. */
  abortedBy(signal: AbortSignal): Agent;
  /**
   * The agent with a function that hears how far a long call is, ten times a second at most: how
   * many memories retain, retainMany and retainDialogue have embedded, or verify has checked.
   * total: null if it is unknown. An error that it throws ends the call.
   */
  reportingTo(onProgress: (done: number, total: number | null) => void): Agent;
}

/** The agents of a server. Close it at the end: its connections keep the process alive. */
export interface Store extends AsyncDisposable {
  readonly address: string;
  /** One agent's memory; throws for a name that is not valid, or not allowed. */
  agent(name: string): Promise<Agent>;
  /** The ids of the agents that hold something, or a summary of each. */
  agents(options?: { counts?: false }): Listed<string[], string>;
  agents(options: { counts: true }): Listed<AgentSummary[], AgentSummary>;
  /** Delete an agent with all that it holds. */
  deleteAgent(name: string): Promise<null>;
  /** One ranking of the memories of several agents, best first. */
  recall(
    query: string,
    options: { agents: readonly string[] } & NonNullable<Parameters<AgentMethods["recall"]>[1]>,
  ): Promise<JointRecall>;
  ping(): Promise<void>;
  /** The server's metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  close(): void;
}

/**
 * The store of a server at "unix:///path/to.sock", "tcp://host:port" or "tls://host:port".
 *
 * token: one that the server knows; a Unix socket needs none. timeout: seconds of a call, retries
 * included. patience: seconds for which calls wait for a server that is not reachable (10).
 * connections: the most that are open at once (4). certificates: those to trust.
 */
export function connect(
  address: string,
  options?: {
    token?: string;
    timeout?: number;
    patience?: number;
    connections?: number;
    certificates?: string | Buffer;
  },
): Promise<Store>;

/** Make a record of a class that can be sent: `record("Text", { value: "blue" })`. */
export function record<Kind extends keyof Records>(
  kind: Kind,
  fields: Partial<Records[Kind]>,
): Records[Kind];

/** The name of a record's class, such as "Memory"; undefined for another value. */
export function kindOf(value: unknown): keyof Records | undefined;
