// SPDX-License-Identifier: MIT OR Apache-2.0

/** What a queue needs to know of its items. */
export interface Queued {
  readonly priority: number;
  /** Order of arrival. */
  readonly id: number;
}

/**
 * Items by priority, then by arrival. One list a priority; most pools use one. Taking, adding and looking cost O(number
 * of priorities); removing from the middle costs O(n), and only a cancel does that.
 */
export class PriorityQueue<Item extends Queued> {
  #levels: { priority: number; items: Item[]; head: number }[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(item: Item): void {
    const level = this.#level(item.priority);
    level.items.push(item);
    this.#length++;
  }

  /** Puts back an item that was taken before: it goes to where its age belongs. */
  putBack(item: Item): void {
    const level = this.#level(item.priority);
    let at = level.head;
    while (at < level.items.length && level.items[at]!.id < item.id) at++;
    level.items.splice(at, 0, item);
    this.#length++;
  }

  peek(): Item | undefined {
    const level = this.#levels[0];
    return level?.items[level.head];
  }

  take(): Item | undefined {
    const level = this.#levels[0];
    if (!level) return undefined;
    const item = level.items[level.head]!;
    level.head++;
    this.#length--;
    if (level.head === level.items.length) this.#levels.shift();
    else if (level.head > 1024 && level.head * 2 > level.items.length) {
      level.items.splice(0, level.head);
      level.head = 0;
    }
    return item;
  }

  /** The oldest of the lowest priority: what `dropOldest` gives up. */
  oldest(): Item | undefined {
    const level = this.#levels.at(-1);
    return level?.items[level.head];
  }

  remove(item: Item): boolean {
    const index = this.#levels.findIndex((level) => level.priority === item.priority);
    const level = this.#levels[index];
    const at = level ? level.items.indexOf(item, level.head) : -1;
    if (!level || at < 0) return false;
    level.items.splice(at, 1);
    this.#length--;
    if (level.head === level.items.length) this.#levels.splice(index, 1);
    return true;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (const level of this.#levels) yield* level.items.slice(level.head);
  }

  #level(priority: number): { priority: number; items: Item[]; head: number } {
    const first = this.#levels[0];
    if (first?.priority === priority) return first;
    let at = 0;
    while (at < this.#levels.length && this.#levels[at]!.priority > priority) at++;
    if (this.#levels[at]?.priority !== priority) this.#levels.splice(at, 0, { priority, items: [], head: 0 });
    return this.#levels[at]!;
  }
}
