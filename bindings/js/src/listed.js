// The result of a method that lists: a promise of all, and an iterator of each as it comes.

/**
 * `await` gives the whole list. `for await` gives the items as they arrive, so that a long list is
 * never in memory as a whole; a list that was begun so is not begun again if the connection breaks.
 */
export class Listed {
  #start;
  #whole = null;

  /** start: takes a callback for each chunk, or undefined, and returns a promise of the result. */
  constructor(start) {
    this.#start = start;
  }

  #all() {
    this.#whole ??= this.#start(undefined);
    return this.#whole;
  }

  then(resolved, rejected) {
    return this.#all().then(resolved, rejected);
  }

  catch(rejected) {
    return this.#all().catch(rejected);
  }

  finally(done) {
    return this.#all().finally(done);
  }

  get [Symbol.toStringTag]() {
    return "Listed";
  }

  async *[Symbol.asyncIterator]() {
    const chunks = [];
    let wake = () => {};
    let ended = false;
    const rest = this.#start((items) => {
      chunks.push(items);
      wake();
    }).finally(() => {
      ended = true;
      wake();
    });
    rest.catch(() => {}); // it is thrown below
    while (!ended || chunks.length > 0) {
      if (chunks.length > 0) yield* chunks.shift();
      else await new Promise((resolve) => (wake = resolve));
    }
    const last = await rest;
    yield* Array.isArray(last) ? last : last.facts;
  }
}
