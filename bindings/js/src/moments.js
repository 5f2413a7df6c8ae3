// Times and durations, in microseconds as the store keeps them.

const THOUSAND = 1000n;

/** A time with microseconds. It is a Date, so that all that takes a Date takes it. */
export class Moment extends Date {
  #micros;
  #zone;

  /** micros: since 1970 UTC, a bigint. zone: of a time that has one of its own, else null. */
  constructor(micros, zone = null) {
    const rest = ((micros % THOUSAND) + THOUSAND) % THOUSAND;
    super(Number((micros - rest) / THOUSAND));
    this.#micros = micros;
    this.#zone = zone;
  }

  /** The microseconds since 1970 UTC, a bigint. */
  get micros() {
    return this.#micros;
  }

  /** The zone of a time that has one of its own, such as "Europe/Rome"; else null. */
  get zone() {
    return this.#zone;
  }

  /** Return the time in ISO 8601, with six digits of a second. */
  toISOString() {
    const rest = ((this.#micros % THOUSAND) + THOUSAND) % THOUSAND;
    return super.toISOString().replace("Z", `${String(rest).padStart(3, "0")}Z`);
  }
}

/** A span of time: `new Duration({ days: 30 })`. */
export class Duration {
  #micros;

  constructor({ days = 0, hours = 0, minutes = 0, seconds = 0, micros = 0n } = {}) {
    const whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    this.#micros = BigInt(Math.round(whole * 1e6)) + BigInt(micros);
  }

  /** The microseconds, a bigint. */
  get micros() {
    return this.#micros;
  }

  /** The seconds, a number. */
  get seconds() {
    return Number(this.#micros) / 1e6;
  }
}

/** Return the microseconds of a Date, a bigint; those of a Moment are exact. */
export function microsOf(date) {
  return date instanceof Moment ? date.micros : BigInt(date.getTime()) * THOUSAND;
}
