// Numbers, sizes and times as text. Times are shown in UTC, and say so.

export const number = (value) => value === null || value === undefined ? "\u2013"
  : value.toLocaleString("en");

export function bytes(count) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = count, unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A time as "2024-05-01 09:30:00 UTC"; midnight as a date alone. */
export function moment(written) {
  if (!written) return "\u2013";
  const date = new Date(written);
  if (Number.isNaN(date.getTime())) return written;
  const iso = date.toISOString();
  const [day, time] = [iso.slice(0, -14), iso.slice(-13, -5)];
  return time === "00:00:00" ? `${day} UTC` : `${day} ${time} UTC`;
}

/** What a person types as a time, as ISO 8601 in UTC; undefined if it is none. */
export function readMoment(typed) {
  const plain = typed.trim().replace(/ ?UTC$/i, "").replace(" ", "T");
  if (/^\d{4}-\d\d-\d\d$/.test(plain)) return `${plain}T00:00:00Z`;
  const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.exec(plain);
  if (!match || Number.isNaN(Date.parse(plain))) return undefined;
  const seconds = match[1] ? "" : ":00", zone = match[3] ?? "Z";
  return plain.slice(0, plain.length - (match[3]?.length ?? 0)) + seconds + zone;
}

export function seconds(value) {
  if (value === null || value === undefined) return "\u2013";
  const micros = value * 1e6;
  if (micros < 1000) return `${micros.toFixed(micros < 10 ? 1 : 0)} \u00b5s`;
  if (micros < 1e6) return `${(micros / 1000).toFixed(micros < 10_000 ? 2 : 1)} ms`;
  return `${value.toFixed(1)} s`;
}

export function span(value) {
  const whole = Math.abs(value);
  const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"]].find(([each]) => whole >= each) ??
    [1, "s"];
  return `${Math.round(whole / size)} ${unit}`;
}

export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** The words of two texts, each with whether the other lacks it: [[word, own], ...] of each. */
export function wordDifference(one, other) {
  const [a, b] = [one, other].map((text) => text.split(/(\s+)/).slice(0, 400));
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const left = [], right = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      left.push([a[i++], false]);
      right.push([b[j++], false]);
    } else if (j >= b.length || (i < a.length && table[i + 1][j] >= table[i][j + 1])) {
      left.push([a[i++], true]);
    } else {
      right.push([b[j++], true]);
    }
  }
  return [left, right];
}
