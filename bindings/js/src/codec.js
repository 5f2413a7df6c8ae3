// How a value becomes bytes: MessagePack, with the extension types of PROTOCOL.md.

import { inflateSync } from "node:zlib";

import { decode, decodeMulti, decodeMultiStream, encode, ExtData } from "@msgpack/msgpack";

import { InputError, ProtocolError } from "./errors.js";
import { Duration, Moment, microsOf } from "./moments.js";
import { readRecall } from "./recall.js";

const MOMENT = 1;
const DURATION = 2;
const ARRAY = 3;
const DEFLATED = 4;
const RECORD = 5;
const TIMESTAMP = -1;
const KIND = Symbol("recollex.kind");
const RAW = Symbol("recollex.raw");

const INT64 = (value) => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value);
  return bytes;
};

/** Make a record of a class that a client may send, such as `record("Text", { value: "blue" })`. */
export function record(kind, fields) {
  if (typeof kind !== "string" || fields === null || typeof fields !== "object") {
    throw new InputError("a record is made of its name, a string, and an object of its fields");
  }
  return marked({ ...fields }, kind);
}

/** Return the name of a record's class, such as "Memory"; undefined for another value. */
export function kindOf(value) {
  return value === null || typeof value !== "object" ? undefined : value[KIND];
}

function marked(fields, kind) {
  return Object.defineProperty(fields, KIND, { value: kind });
}

function extension(value) {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new InputError("a date must be valid");
    return new ExtData(MOMENT, INT64(microsOf(value)));
  }
  if (value instanceof Duration) return new ExtData(DURATION, INT64(value.micros));
  if (value instanceof Float32Array || value instanceof Float64Array) {
    return new ExtData(ARRAY, arrayBytes(value));
  }
  const kind = kindOf(value);
  if (kind === undefined) return null;
  if (value[RAW] !== undefined) return new ExtData(RECORD, value[RAW]);
  const parts = [encode(kind), packed({ ...value })];
  return new ExtData(RECORD, Buffer.concat(parts));
}

function arrayBytes(numbers) {
  const size = numbers.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(6 + numbers.length * size);
  const view = new DataView(bytes.buffer);
  bytes[0] = size === 4 ? 0x34 : 0x38; // the digit
  bytes[1] = 1;
  view.setUint32(2, numbers.length);
  numbers.forEach((value, place) => {
    if (size === 4) view.setFloat32(6 + place * 4, value, true);
    else view.setFloat64(6 + place * 8, value, true);
  });
  return bytes;
}

function readArray(data) {
  const size = data[0] - 0x30;
  const dimensions = data[1];
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let count = 1;
  for (let place = 0; place < dimensions; place += 1) count *= view.getUint32(2 + 4 * place);
  const start = 2 + 4 * dimensions;
  if (![2, 4, 8].includes(size) || data.byteLength !== start + count * size) {
    throw new ProtocolError("an array's bytes do not fit its shape");
  }
  const found = size === 8 ? new Float64Array(count) : new Float32Array(count);
  for (let place = 0; place < count; place += 1) {
    const at = start + place * size;
    if (size === 8) found[place] = view.getFloat64(at, true);
    else if (size === 4) found[place] = view.getFloat32(at, true);
    else found[place] = float16(view.getUint16(at, true));
  }
  return found;
}

function float16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function readMoment(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const zone = data.byteLength > 8 ? new TextDecoder().decode(data.subarray(8)) : null;
  return new Moment(view.getBigInt64(0), zone);
}

function readExtension(data, type) {
  if (type === MOMENT) return readMoment(data);
  if (type === DURATION) return new Duration({ micros: readMoment(data.subarray(0, 8)).micros });
  if (type === ARRAY) return readArray(data);
  if (type === DEFLATED) return readArray(inflateSync(data.subarray(4)));
  if (type === RECORD) return readRecord(data);
  if (type === TIMESTAMP) throw new ProtocolError("a server answers with moments");
  throw new ProtocolError(`extension types are -1 and 1 to 5, got ${type}`);
}

function readRecord(data) {
  const values = [...decodeMulti(data, OPTIONS)];
  if (values.length !== 2 || typeof values[0] !== "string" || typeof values[1] !== "object") {
    throw new ProtocolError("a record is a str and a map");
  }
  const [kind, fields] = values;
  if (kind !== "Recall") return marked(fields, kind);
  const found = marked(readRecall(fields, decode(fields.memories, OPTIONS)), kind);
  return Object.defineProperty(found, RAW, { value: data.slice() });
}

const OPTIONS = {
  extensionCodec: { tryToEncode: extension, decode: readExtension },
  ignoreUndefined: true,
  maxDepth: 64,
};

/** Return a value as bytes; throws InputError for one that cannot be sent. */
export function packed(value) {
  try {
    return encode(value, OPTIONS);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`a value cannot be sent to a server: ${error.message}`, {}, error);
  }
}

/** Yield the values that a stream of bytes holds, one after another. */
export function unpacked(stream) {
  return decodeMultiStream(stream, OPTIONS);
}
