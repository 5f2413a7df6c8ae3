// The agents of a server: what `connect` returns.

import { Agent, checkSeconds, readArguments } from "./agent.js";
import { Caller } from "./calls.js";
import { readAddress } from "./address.js";
import { InputError } from "./errors.js";
import { Listed } from "./listed.js";
import { METHODS } from "./methods.js";
import { Pool } from "./pool.js";
import { isShown, promptOf } from "./recall.js";

/** The version of this package. */
export const VERSION = "0.1.0";
const MOST_CONNECTIONS = 1_000;

/** The agents of a server. Close it at the end: its connections keep the process alive. */
export class Store {
  #caller;
  #options;

  constructor(address, caller, options) {
    this.address = address;
    this.#caller = caller;
    this.#options = options;
  }

  /** Return one agent's memory; throws for a name that is not valid, or not allowed. */
  async agent(name) {
    const agent = new Agent(name, this.#caller, this.#options);
    await agent.list({ limit: 1 });
    return agent;
  }

  /** Return the ids of the agents that hold something; with `{ counts: true }` a summary of each. */
  agents(options = {}) {
    return new Listed((onPart) => this.#do("agents", null, options, onPart));
  }

  /** Delete an agent with all that it holds. */
  deleteAgent(name) {
    return this.#do("delete_agent", name, {});
  }

  /** Return one ranking of the memories of several agents, best first. */
  async recall(query, options) {
    const row = METHODS["store.recall"];
    const named = readArguments(row, "recall", options === undefined ? [query] : [query, options]);
    const found = await this.#do("store.recall", null, named);
    const memories = found.order.map(([agent, place]) => ({
      ...found.recalls[agent].memories[place],
      agent,
    }));
    return Object.defineProperties(found, {
      memories: { value: memories },
      toPrompt: {
        value: ({ min_confidence } = {}) =>
          Object.values(found.recalls).some((each) => isShown(each, min_confidence))
            ? promptOf(memories)
            : "",
      },
    });
  }

  /** Wait for an answer of the server. */
  async ping() {
    await this.#do("ping", null, {});
  }

  /** Return the server's metrics in Prometheus' text format. */
  metrics() {
    return this.#do("metrics", null, {});
  }

  /** Close the connections. */
  close() {
    this.#caller.close();
  }

  #do(method, agent, named, onPart) {
    return this.#caller.do(method, agent, named, this.#options, onPart);
  }
}

if (Symbol.asyncDispose !== undefined) {
  Store.prototype[Symbol.asyncDispose] = async function dispose() {
    this.close();
  };
}

/**
 * Return the store of a server.
 *
 * address: "unix:///path/to.sock", "tcp://host:port" or "tls://host:port". token: one that the
 * server knows; a Unix socket needs none. timeout: seconds of a call, retries included. patience:
 * seconds for which calls wait for a server that is not reachable. connections: the most that are
 * open at once. certificates: those to trust (`ca` of node:tls). Throws DisconnectedError if no
 * server answers, UnauthorizedError for a token that it does not know.
 */
export async function connect(
  address,
  { token, timeout, patience = 10, connections = 4, certificates } = {},
) {
  const where = readAddress(address);
  if (token !== undefined && (typeof token !== "string" || token === "")) {
    throw new InputError("token must be a string that is not empty");
  }
  if (timeout !== undefined) checkSeconds(timeout, "timeout");
  checkSeconds(patience, "patience");
  if (!Number.isInteger(connections) || connections < 1 || connections > MOST_CONNECTIONS) {
    throw new InputError(
      `connections must be a whole number in [1, ${MOST_CONNECTIONS}], got ${connections}`,
    );
  }
  const pool = new Pool({ address: where, token, version: VERSION, certificates }, connections);
  await pool.take(timeout === undefined ? undefined : timeout * 1000);
  const options = timeout === undefined ? {} : { seconds: timeout };
  return new Store(address, new Caller(pool, patience), options);
}
