// The address of a server, parsed from what a user types.

import { InputError } from "./errors.js";

const FORMS = 'write "unix:///path/to.sock", "tcp://host:port" or "tls://host:port"';

/** Return what `net.connect` takes, with `tls`; throws InputError. */
export function readAddress(given) {
  if (typeof given !== "string") {
    throw new InputError(`the address must be a string, got ${typeof given}: ${FORMS}`);
  }
  if (given.startsWith("unix://")) {
    const path = decodeURIComponent(given.slice("unix://".length));
    if (!path.startsWith("/") || path.endsWith("/")) {
      throw new InputError(`the address ${given} must name a socket's whole path: ${FORMS}`);
    }
    return { tls: false, path };
  }
  const found = /^(tcp|tls):\/\/(?:\[([^\]]+)\]|([^/:@]+)):(\d{1,5})\/?$/.exec(given);
  const port = found === null ? 0 : Number(found[4]);
  if (found === null || port < 1 || port > 65535) {
    throw new InputError(`the address ${given} cannot be read: ${FORMS}`);
  }
  return { tls: found[1] === "tls", host: found[2] ?? found[3], port };
}
