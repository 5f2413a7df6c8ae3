// The public names of the package.

export { Agent } from "./agent.js";
export { kindOf, record } from "./codec.js";
export * from "./errors.js";
export { Listed } from "./listed.js";
export { Duration, Moment } from "./moments.js";
export { Recall } from "./recall.js";
export { connect, Store, VERSION } from "./store.js";
