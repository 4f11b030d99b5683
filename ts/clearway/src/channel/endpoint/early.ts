// SPDX-License-Identifier: MIT OR Apache-2.0

/** What is kept of a channel that has no handler yet. */
interface Shelf<T> {
  max: number;
  readonly kept: { readonly entry: T; readonly bytes: number; readonly untilMs: number }[];
}

/** What a buffer of early messages is bounded by. */
export interface EarlyLimits {
  /** Of each channel, unless resized. */
  readonly each: number;
  readonly bytesMax: number;
  readonly keptMs: number;
}

// Names of channels that were resized and never used stay; so many at most, and then the oldest is forgotten.
const shelvesMax = 1024;

/**
 * Early messages, bounded by their number in each channel, by their bytes together, and by time. A pure value: what it gives
 * back was dropped for it or is over its time, and its owner answers it.
 */
export class Early<T> {
  readonly #limits: EarlyLimits;
  readonly #shelves = new Map<string, Shelf<T>>();
  #bytes = 0;

  constructor(limits: EarlyLimits) {
    this.#limits = limits;
  }

  /** Keeps one; returns those that had to go for it: the oldest of its channel, or itself. */
  add(name: string, entry: T, bytes: number, nowMs: number): T[] {
    const shelf = this.#shelf(name);
    const gone: T[] = [];
    if (shelf.max === 0 || bytes > this.#limits.bytesMax) return [entry];
    while (shelf.kept.length >= shelf.max) gone.push(this.#shift(shelf));
    while (this.#bytes + bytes > this.#limits.bytesMax && shelf.kept.length > 0) gone.push(this.#shift(shelf));
    // Other channels' messages are not dropped for this one's.
    if (this.#bytes + bytes > this.#limits.bytesMax) return [...gone, entry];
    shelf.kept.push({ entry, bytes, untilMs: nowMs + this.#limits.keptMs });
    this.#bytes += bytes;
    return gone;
  }

  /** Takes all of a channel's, oldest first. */
  take(name: string): T[] {
    const shelf = this.#shelves.get(name);
    const all: T[] = [];
    while (shelf && shelf.kept.length > 0) all.push(this.#shift(shelf));
    return all;
  }

  /** Takes one out; false when it is not there. */
  remove(name: string, entry: T): boolean {
    const shelf = this.#shelves.get(name);
    const index = shelf?.kept.findIndex((each) => each.entry === entry) ?? -1;
    if (shelf === undefined || index < 0) return false;
    this.#bytes -= shelf.kept[index]!.bytes;
    shelf.kept.splice(index, 1);
    return true;
  }

  /** Sets how many of a channel are kept; returns the oldest that are too many now. */
  resize(name: string, max: number): T[] {
    const shelf = this.#shelf(name);
    shelf.max = max;
    const gone: T[] = [];
    while (shelf.kept.length > max) gone.push(this.#shift(shelf));
    return gone;
  }

  /** Takes what was kept long enough. */
  expire(nowMs: number): T[] {
    const gone: T[] = [];
    for (const shelf of this.#shelves.values()) {
      while (shelf.kept.length > 0 && shelf.kept[0]!.untilMs <= nowMs) gone.push(this.#shift(shelf));
    }
    return gone;
  }

  /** When the next one is over its time; undefined when there is none. */
  get nextMs(): number | undefined {
    let next: number | undefined;
    for (const { kept } of this.#shelves.values()) {
      if (kept[0] !== undefined && (next === undefined || kept[0].untilMs < next)) next = kept[0].untilMs;
    }
    return next;
  }

  #shelf(name: string): Shelf<T> {
    const before = this.#shelves.get(name);
    if (before !== undefined) return before;
    if (this.#shelves.size >= shelvesMax) this.#forget();
    const shelf: Shelf<T> = { max: this.#limits.each, kept: [] };
    this.#shelves.set(name, shelf);
    return shelf;
  }

  #forget(): void {
    for (const [name, { kept }] of this.#shelves) {
      if (kept.length > 0) continue;
      this.#shelves.delete(name);
      return;
    }
  }

  #shift(shelf: Shelf<T>): T {
    const first = shelf.kept.shift()!;
    this.#bytes -= first.bytes;
    return first.entry;
  }
}
