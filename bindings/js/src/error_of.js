// The error that a server sent, as [name, message, data].

import * as errors from "./errors.js";

/** Return the error of a class of errors.js; an InternalError for a name that is not known here. */
export function errorOf(sent) {
  if (!Array.isArray(sent) || sent.length !== 3) {
    return new errors.ProtocolError("an error is [name, message, data]");
  }
  const [name, message, { cause, ...data }] = sent;
  const from = cause === undefined ? undefined : errorOf(cause);
  const kind = Object.hasOwn(errors, name) ? errors[name] : undefined;
  if (kind === undefined) return new errors.InternalError(`${name}: ${message}`, data, from);
  return new kind(message, data, from);
}
