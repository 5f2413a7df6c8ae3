// The memories of a recall, which come as columns: see "Records" in PROTOCOL.md.

import { InputError, ProtocolError } from "./errors.js";
import { FIELDS, ROWS } from "./fields.js";
import { Moment } from "./moments.js";

const FULL = "user";
const SHOWN = 0.1; // as in confidence.py
const UNHEARD = 0.5;
const DATE = new Intl.DateTimeFormat("en-US", {
  ...{ year: "numeric", month: "long", day: "2-digit", timeZone: "UTC" },
});
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** What a question recalled: its memories, best first. It can be iterated. */
export class Recall {
  constructor(fields, memories) {
    for (const [name, value] of Object.entries(fields)) {
      if (name !== "memories" && name !== "count") this[name] = value;
    }
    this.memories = memories;
  }

  get length() {
    return this.memories.length;
  }

  get ids() {
    return this.memories.map((memory) => memory.id);
  }

  [Symbol.iterator]() {
    return this.memories[Symbol.iterator]();
  }

  /**
   * Return the memories as text for a language model: one dated line each, best first.
   *
   * It is empty if the recall is not worth its tokens: see `is_shown` of the Python client. With
   * `min_confidence: 0` it has whatever was recalled.
   */
  toPrompt({ min_confidence } = {}) {
    if (this.subgraph || this.beside) {
      throw new InputError("toPrompt writes memories alone: recall without pack and kinds");
    }
    return isShown(this, min_confidence) ? promptOf(this.memories) : "";
  }
}

/** Return whether a recall is worth putting before a model. */
export function isShown({ confidence, signs }, least) {
  if (confidence === null || least !== undefined) return confidence === null || confidence >= least;
  return confidence >= SHOWN || (confidence > 0 && !(signs?.unknown > UNHEARD));
}

/** Return memories as the lines of a prompt; sources below full trust are marked. */
export function promptOf(memories) {
  const marked = memories.some((memory) => memory.source !== null);
  return memories.map((memory) => promptLine(memory, marked)).join("\n");
}

function promptLine({ event_at, text, source, trust }, marked) {
  const about = marked ? mark(source, trust) : "";
  const written = text.trimEnd().split(LINE_END).join("\n    ");
  return `[${DATE.format(event_at)}${about && `; ${about}`}] ${written}`;
}

function mark(source, trust) {
  if (source === null) return "source: unknown";
  if (trust === FULL) return "";
  return `source: ${source}${trust === source ? "" : `, trusted as ${trust}`}`;
}

/** How a value of a column becomes that of a field, by the form that `FIELDS` names. */
const FORMS = {
  plain: (value) => (typeof value === "bigint" ? Number(value) : value),
  named: (value, { names }) => names[Number(value)],
  moment,
  moments: (value) => value.map(moment),
  event: (value, { row, number }) => [moment(value), moment(number(row + 1))],
  json: (value) => (value === "" ? {} : JSON.parse(value)),
  passage: (value, { text }) => value ?? text,
  spans: (value, { text }) => spans(value, text),
  ranks: (value, { ranks }) => ranks,
  closure,
  predecessor: (value, { id }) => predecessor(id, value),
};

/** Return the recall of its received fields and columns. */
export function readRecall(fields, columns) {
  const { count } = fields;
  const texts = strings(columns, count);
  const numbers = integers(columns.numbers, ROWS * count);
  const scores = floats(columns.score, count);
  const arms = Object.entries(columns.ranks ?? {}).map(([arm, data]) => [arm, ranksOf(data, count)]);
  const memories = [];
  for (let place = 0; place < count; place += 1) {
    const number = (row) => numbers(row * count + place);
    const ranks = arms.map(([arm, of]) => [arm, of(place)]).filter(([, rank]) => rank > 0);
    const memory = { id: texts[place], text: texts[count + place] };
    const known = { ...memory, number, ranks: Object.fromEntries(ranks) };
    for (const { name, form, row, absent = null, names } of FIELDS) {
      const value = row === undefined ? (columns[name]?.[place] ?? fresh(absent)) : number(row);
      memory[name] = FORMS[form](value, { ...known, row, names });
    }
    memories.push({ ...memory, score: scores(place), agent: null });
  }
  return new Recall(fields, memories);
}

function fresh(absent) {
  if (absent === null || typeof absent !== "object") return absent;
  return Array.isArray(absent) ? [] : {};
}

function moment(micros) {
  return micros === null ? null : new Moment(BigInt(micros));
}

function closure(told) {
  return told === null
    ? null
    : { at: moment(told[0]), how: told[1], by: told[2] ?? null, why: told[3] ?? null };
}

function predecessor(id, told) {
  if (told === null) return null;
  const [text, said, recorded, closed] = told;
  const times = { event_at: moment(said), recorded_at: moment(recorded) };
  return { id, text, ...times, closed: closure(closed) };
}

function spans(ends, text) {
  if (ends === null) return [[0, [...text].length]];
  const found = [];
  for (let place = 0; place < ends.length; place += 2) found.push([ends[place], ends[place + 1]]);
  return found;
}

function view(data, bytes) {
  if (!(data instanceof Uint8Array) || data.byteLength !== bytes) {
    throw new ProtocolError(`a column of a recall must have ${bytes} bytes`);
  }
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}

function integers(data, count) {
  const found = view(data, 8 * count);
  return (place) => found.getBigInt64(8 * place, true);
}

function floats(data, count) {
  const found = view(data, 8 * count);
  return (place) => found.getFloat64(8 * place, true);
}

function ranksOf(data, count) {
  const found = view(data, 4 * count);
  return (place) => found.getUint32(4 * place, true);
}

function strings(columns, count) {
  const ends = integers(columns.ends, 2 * count);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const found = [];
  let start = 0;
  for (let place = 0; place < 2 * count; place += 1) {
    const end = Number(ends(place));
    found.push(decoder.decode(columns.strings.subarray(start, end)));
    start = end;
  }
  return found;
}
