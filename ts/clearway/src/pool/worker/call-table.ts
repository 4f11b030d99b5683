// SPDX-License-Identifier: MIT OR Apache-2.0

// Number of slots in the array. Ids are consecutive, so the ids of open calls usually differ in their low bits. A caller with 1,000 calls
// in flight at one worker needs 1,024 slots.
const slots = 1024;

/**
 * The open calls of one worker, by id, with the methods of a map. Most calls are in an array, at the index that the low bits of their id
 * give. If another call has that slot, the call is in a map instead. A slot is taken if a call takes long, or if there are more calls
 * than slots.
 *
 * A map alone is slower. With thousands of calls, V8 replaces the map's table again and again. An old table keeps all its entries and the
 * next table alive. With 1,000 calls in flight, every garbage collection then kept 1.5 MB of answered calls. The caller spent a quarter of
 * its time on garbage collection. See `spec/decisions/open-calls-are-in-an-array.md`.
 */
export class CallTable<Call extends { readonly id: number }> {
  size = 0;
  readonly #slots = new Array<Call | undefined>(slots).fill(undefined);
  readonly #overflow = new Map<number, Call>();

  get(id: number): Call | undefined {
    const call = this.#slots[id & (slots - 1)];
    return call?.id === id ? call : this.#overflow.get(id);
  }

  /** Adds a call that is not in the table. */
  set(id: number, call: Call): void {
    this.size++;
    const slot = id & (slots - 1);
    if (this.#slots[slot]) this.#overflow.set(id, call);
    else this.#slots[slot] = call;
  }

  /** Removes a call. Does nothing if the call is not in the table. */
  delete(id: number): void {
    const slot = id & (slots - 1);
    if (this.#slots[slot]?.id === id) this.#slots[slot] = undefined;
    else if (!this.#overflow.delete(id)) return;
    this.size--;
  }

  /** Returns all calls, oldest first. The array is a copy, so the caller may change the table while iterating. */
  values(): Call[] {
    const all = [...this.#slots.filter((call) => call !== undefined), ...this.#overflow.values()];
    return all.sort((a, b) => a.id - b.id);
  }
}
