// SPDX-License-Identifier: MIT OR Apache-2.0

// Ids are consecutive, so open calls usually differ in their low bits. A caller with 1,000 calls in flight at one worker needs 1,024
// places.
const places = 1024;

/**
 * The open calls of one worker, by id, with the methods of a map. Most calls are in an array, at the index of their id's low bits. If that
 * place is taken, by a long call or because there are more calls than places, the call is in a map.
 *
 * A map alone is slower: with thousands of calls, V8 replaces its table again and again, and an old table keeps all its entries and the
 * next table alive. With 1,000 calls in flight, every garbage collection then kept 1.5 MB of answered calls, and a quarter of the caller's
 * time went into garbage collection (`spec/decisions/a-workers-calls-stand-in-an-array.md`).
 */
export class CallTable<Call extends { readonly id: number }> {
  size = 0;
  readonly #places = new Array<Call | undefined>(places).fill(undefined);
  readonly #others = new Map<number, Call>();

  get(id: number): Call | undefined {
    const call = this.#places[id & (places - 1)];
    return call?.id === id ? call : this.#others.get(id);
  }

  /** Adds a call that is not in the table. */
  set(id: number, call: Call): void {
    this.size++;
    const place = id & (places - 1);
    if (this.#places[place]) this.#others.set(id, call);
    else this.#places[place] = call;
  }

  /** Removes a call, if it is in the table. */
  delete(id: number): void {
    const place = id & (places - 1);
    if (this.#places[place]?.id === id) this.#places[place] = undefined;
    else if (!this.#others.delete(id)) return;
    this.size--;
  }

  /** Returns all calls, oldest first. The array is a copy: the caller may change the table meanwhile. */
  values(): Call[] {
    const all = [...this.#places.filter((call) => call !== undefined), ...this.#others.values()];
    return all.sort((a, b) => a.id - b.id);
  }
}
