// SPDX-License-Identifier: MIT OR Apache-2.0

/** Early messages of one channel. */
interface Shelf<T> {
  max: number;
  readonly kept: { readonly entry: T; readonly bytes: number; readonly untilMs: number }[];
}

/** Limits for early messages. */
export interface EarlyLimits {
  /** Messages per channel, unless resized. */
  readonly each: number;
  readonly bytesMax: number;
  readonly keptMs: number;
}

// From this number of channels on, a new channel removes the oldest channel that has no messages. Resized channels stay here
// even if they have no messages.
const shelvesMax = 1024;

/**
 * Keeps early messages: messages that arrive before their channel has a handler. It limits the number of messages per channel,
 * the size of all messages in bytes, and the time that a message is kept. It reads no clock and sends nothing: it returns the
 * dropped and expired messages, and its owner answers them.
 */
export class Early<T> {
  readonly #limits: EarlyLimits;
  readonly #shelves = new Map<string, Shelf<T>>();
  #bytes = 0;

  constructor(limits: EarlyLimits) {
    this.#limits = limits;
  }

  /**
   * Adds a message. Returns the messages that were dropped to make room: the channel's oldest messages, and the new message if
   * it does not fit.
   */
  add(name: string, entry: T, bytes: number, nowMs: number): T[] {
    const shelf = this.#shelf(name);
    const gone: T[] = [];
    if (shelf.max === 0 || bytes > this.#limits.bytesMax) return [entry];
    while (shelf.kept.length >= shelf.max) gone.push(this.#shift(shelf));
    while (this.#bytes + bytes > this.#limits.bytesMax && shelf.kept.length > 0) gone.push(this.#shift(shelf));
    // A message never makes the buffer drop messages of other channels.
    if (this.#bytes + bytes > this.#limits.bytesMax) return [...gone, entry];
    shelf.kept.push({ entry, bytes, untilMs: nowMs + this.#limits.keptMs });
    this.#bytes += bytes;
    return gone;
  }

  /** Removes all messages of a channel and returns them, oldest first. */
  take(name: string): T[] {
    const shelf = this.#shelves.get(name);
    const all: T[] = [];
    while (shelf && shelf.kept.length > 0) all.push(this.#shift(shelf));
    return all;
  }

  /** Removes a message. Returns false if the message is not in the buffer. */
  remove(name: string, entry: T): boolean {
    const shelf = this.#shelves.get(name);
    const index = shelf?.kept.findIndex((each) => each.entry === entry) ?? -1;
    if (shelf === undefined || index < 0) return false;
    this.#bytes -= shelf.kept[index]!.bytes;
    shelf.kept.splice(index, 1);
    return true;
  }

  /** Sets how many messages are kept for a channel. Removes and returns the oldest messages above that number. */
  resize(name: string, max: number): T[] {
    const shelf = this.#shelf(name);
    shelf.max = max;
    const gone: T[] = [];
    while (shelf.kept.length > max) gone.push(this.#shift(shelf));
    return gone;
  }

  /** Removes expired messages and returns them. */
  expire(nowMs: number): T[] {
    const gone: T[] = [];
    for (const shelf of this.#shelves.values()) {
      while (shelf.kept.length > 0 && shelf.kept[0]!.untilMs <= nowMs) gone.push(this.#shift(shelf));
    }
    return gone;
  }

  /** Time at which the next message expires, in milliseconds. Undefined if there is no message. */
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
