// SPDX-License-Identifier: MIT OR Apache-2.0

// Number of places in the array. Ids are consecutive, so the ids of open calls usually differ in their low bits. A caller with 1,000 calls
// in flight at one worker needs 1,024 places.
const places = 1024;

/**
 * The open calls of one worker, by id, with the methods of a map. Most calls are in an array, at the index that the low bits of their id
 * give. If another call has that place, the call is in a map instead. A place is taken if a call takes long, or if there are more calls
 * than places.
 *
 * A map alone is slower. With thousands of calls, V8 replaces the map's table again and again. An old table keeps all its entries and the
 * next table alive. With 1,000 calls in flight, every garbage collection then kept 1.5 MB of answered calls. The caller spent a quarter of
 * its time on garbage collection. See `spec/decisions/a-workers-calls-stand-in-an-array.md`.
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

  /** Removes a call. Does nothing if the call is not in the table. */
  delete(id: number): void {
    const place = id & (places - 1);
    if (this.#places[place]?.id === id) this.#places[place] = undefined;
    else if (!this.#others.delete(id)) return;
    this.size--;
  }

  /** Returns all calls, oldest first. The array is a copy, so the caller may change the table while iterating. */
  values(): Call[] {
    const all = [...this.#places.filter((call) => call !== undefined), ...this.#others.values()];
    return all.sort((a, b) => a.id - b.id);
  }
}
