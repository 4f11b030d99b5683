// SPDX-License-Identifier: MIT OR Apache-2.0

// Ids are given out in order, so calls that are under way together have low bits of their own, mostly: 1024 places hold
// what a caller with 1000 calls in flight has with one worker.
const places = 1024;

/**
 * The calls that are with one worker, by id, with the methods of a map. An array where an id's low bits are the index, and a
 * map only for those whose place is taken: by a call that takes long, or by one of more calls than there are places.
 *
 * Not a map alone: under thousands of calls V8 makes its table anew again and again, and a table that was old when it was
 * left holds on to all its entries and to the next one. With 1000 calls in flight every collection then kept
 * 1.5 MB of answered calls alive, and a quarter of the caller's time was spent collecting
 * (`spec/decisions/a-workers-calls-stand-in-an-array.md`).
 */
export class CallTable<Call extends { readonly id: number }> {
  size = 0;
  readonly #places = new Array<Call | undefined>(places).fill(undefined);
  readonly #others = new Map<number, Call>();

  get(id: number): Call | undefined {
    const call = this.#places[id & (places - 1)];
    return call?.id === id ? call : this.#others.get(id);
  }

  /** Adds a call that is not here. */
  set(id: number, call: Call): void {
    this.size++;
    const place = id & (places - 1);
    if (this.#places[place]) this.#others.set(id, call);
    else this.#places[place] = call;
  }

  /** Takes a call out, if it is here. */
  delete(id: number): void {
    const place = id & (places - 1);
    if (this.#places[place]?.id === id) this.#places[place] = undefined;
    else if (!this.#others.delete(id)) return;
    this.size--;
  }

  /** All of them, oldest first; a copy, so that they may be taken out meanwhile. */
  values(): Call[] {
    const all = [...this.#places.filter((call) => call !== undefined), ...this.#others.values()];
    return all.sort((a, b) => a.id - b.id);
  }
}
