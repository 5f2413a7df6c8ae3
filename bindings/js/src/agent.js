// One agent's memory at a server. Its methods are made of the table in methods.js.

import { InputError } from "./errors.js";
import { kindOf } from "./codec.js";
import { Listed } from "./listed.js";
import { METHODS } from "./methods.js";

/** Return the name of a method here: "retain_many" is retainMany. */
export function camel(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

/** Return the arguments by their names: some in order, then an object with the others. */
export function readArguments(row, name, given) {
  const values = [...given];
  const last = values.at(-1);
  let options = {};
  if (values.length > row.needed && isOptions(last)) options = values.pop();
  if (values.length > row.positional.length) {
    throw new InputError(
      `${name} takes ${row.positional.join(", ") || "no arguments"} and an object of options, ` +
        `got ${given.length} arguments`,
    );
  }
  const named = { ...options };
  values.forEach((value, place) => {
    const argument = row.positional[place];
    if (argument in options) throw new InputError(`${name} got ${argument} twice`);
    named[argument] = value;
  });
  return named;
}

function isOptions(value) {
  if (value === null || typeof value !== "object" || kindOf(value) !== undefined) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

class Remote {
  #call;

  /** call: takes a method's name on the wire, its arguments and a callback for chunks. */
  constructor(call) {
    this.#call = call;
  }

  static method(wire, row) {
    return function called(...given) {
      const start = async (onPart) =>
        this.#call(wire, readArguments(row, wire, given), row.chunks ? onPart : undefined);
      return row.chunks ? new Listed(start) : start(undefined);
    };
  }

  /** Give a class the methods of a group. */
  static define(kind, group) {
    for (const [wire, row] of Object.entries(METHODS)) {
      if (row.group !== group) continue;
      const name = camel(wire.slice(group === "" ? 0 : group.length + 1));
      const value = Remote.method(wire, row);
      Object.defineProperty(value, "name", { value: name });
      Object.defineProperty(kind.prototype, name, { value, writable: true, configurable: true });
    }
  }
}

/** Group -> the class of its methods. */
const GROUPS = new Map();

/** One agent's memory, from `Store.agent`. */
export class Agent extends Remote {
  #caller;
  #options;

  constructor(name, caller, options) {
    const call = (wire, named, onPart) => caller.do(wire, name, named, options, onPart);
    super(call);
    this.#caller = caller;
    this.#options = options;
    this.name = name;
    for (const [group, Kind] of GROUPS) this[group] = new Kind(call);
  }

  /** Return the agent as of a recorded time: a Date, or a Moment, which has microseconds. */
  at(recorded) {
    if (!(recorded instanceof Date) || Number.isNaN(recorded.getTime())) {
      throw new InputError("at takes a valid Date, or a Moment of an answer");
    }
    return this.#with({ at: recorded });
  }

  /** Return the agent with a timeout for each call, retries included. */
  within(seconds) {
    checkSeconds(seconds, "seconds");
    return this.#with({ seconds });
  }

  /** Return the agent with a signal that aborts its calls: one that has begun is finished. */
  abortedBy(signal) {
    return this.#with({ signal });
  }

  /** Return the agent with a function that is called with (done, total) while a call takes long. */
  reportingTo(onProgress) {
    if (typeof onProgress !== "function") {
      throw new InputError(`reportingTo takes a function, got ${typeof onProgress}`);
    }
    return this.#with({ onProgress });
  }

  #with(more) {
    return new Agent(this.name, this.#caller, { ...this.#options, ...more });
  }
}

Remote.define(Agent, "");
for (const { group } of Object.values(METHODS)) {
  if (["", "store", "server"].includes(group) || GROUPS.has(group)) continue;
  const kind = class extends Remote {};
  Remote.define(kind, group);
  GROUPS.set(group, kind);
}

/** Throw InputError unless a value is a number of seconds. */
export function checkSeconds(value, name) {
  if (typeof value !== "number" || !(value > 0) || value > 365 * 24 * 3600) {
    throw new InputError(`${name} must be a number above 0, up to 31,536,000, got ${value}`);
  }
}
