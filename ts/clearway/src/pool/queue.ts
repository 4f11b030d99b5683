// SPDX-License-Identifier: MIT OR Apache-2.0

/** What a queue needs to know of its items. */
export interface Queued {
  readonly priority: number;
  /** Order of arrival. */
  readonly id: number;
}

// Places of items that were taken are given back in one go: so few that little is held, so many that it costs nothing.
const takenMax = 64;

/**
 * Items by priority, then by arrival, in one sorted array. Taking and looking cost O(1), adding O(log n) where it goes
 * to the end, as it does while all have one priority; elsewhere, and for removing, O(n) moves of pointers.
 */
export class PriorityQueue<Item extends Queued> {
  #items: Item[] = [];
  /** Where the first item stands; what is before it was taken. */
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** Adds an item, also one that was taken before: it goes to where its age belongs. */
  add(item: Item): void {
    this.#items.splice(this.#placeOf(item.priority, item.id), 0, item);
  }

  peek(): Item | undefined {
    return this.#items[this.#head];
  }

  take(): Item | undefined {
    const item = this.peek();
    if (!item) return undefined;
    this.#head++;
    if (this.#head === this.#items.length || (this.#head > takenMax && this.#head * 2 > this.#items.length)) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** The oldest of the lowest priority: what `dropOldest` gives up. */
  oldest(): Item | undefined {
    const last = this.#items.at(-1);
    return last && this.#items[this.#placeOf(last.priority, 0)];
  }

  /** Whether it was there. */
  remove(item: Item): boolean {
    const at = this.#placeOf(item.priority, item.id);
    if (this.#items[at] !== item) return false;
    this.#items.splice(at, 1);
    return true;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items.slice(this.#head).values();
  }

  // Where such an item stands, or would.
  #placeOf(priority: number, id: number): number {
    let low = this.#head;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { priority: itsPriority, id: itsId } = this.#items[middle] as Item;
      if (itsPriority > priority || (itsPriority === priority && itsId < id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
