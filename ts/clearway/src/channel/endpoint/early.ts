// SPDX-License-Identifier: MIT OR Apache-2.0

/** Early messages of one channel, oldest first. */
type ChannelBuffer<T> = { readonly entry: T; readonly bytes: number; readonly untilMs: number }[];

/** Limits for early messages. */
export interface EarlyLimits {
  /** Messages per channel. */
  readonly each: number;
  readonly bytesMax: number;
  readonly keptMs: number;
}

/**
 * Keeps early messages: messages that arrive before their channel has a handler. It limits the number of messages per channel,
 * the size of all messages in bytes, and the time that a message is kept. It reads no clock and sends nothing: it returns the
 * dropped and expired messages, and its owner answers them.
 */
export class Early<T> {
  readonly #limits: EarlyLimits;
  readonly #buffers = new Map<string, ChannelBuffer<T>>();
  #bytes = 0;

  constructor(limits: EarlyLimits) {
    this.#limits = limits;
  }

  /**
   * Adds a message. Returns the messages that were dropped to make room: the channel's oldest messages, and the new message if
   * it does not fit.
   */
  add(name: string, entry: T, bytes: number, nowMs: number): T[] {
    const { each, bytesMax, keptMs } = this.#limits;
    if (each === 0 || bytes > bytesMax) return [entry];
    const buffer = this.#buffers.get(name) ?? [];
    const gone: T[] = [];
    while (buffer.length > 0 && (buffer.length >= each || this.#bytes + bytes > bytesMax))
      gone.push(this.#shift(name, buffer));
    // Adding a message never drops messages of other channels.
    if (this.#bytes + bytes > bytesMax) return [...gone, entry];
    this.#buffers.set(name, buffer);
    buffer.push({ entry, bytes, untilMs: nowMs + keptMs });
    this.#bytes += bytes;
    return gone;
  }

  /** Whether a message of a channel is kept. */
  has(name: string): boolean {
    return this.#buffers.has(name);
  }

  /** Removes all messages of a channel and returns them, oldest first. */
  take(name: string): T[] {
    const all: T[] = [];
    for (let buffer = this.#buffers.get(name); buffer !== undefined && buffer.length > 0; )
      all.push(this.#shift(name, buffer));
    return all;
  }

  /** Removes a message. Returns false if the message is not kept. */
  remove(name: string, entry: T): boolean {
    const buffer = this.#buffers.get(name);
    const index = buffer?.findIndex((each) => each.entry === entry) ?? -1;
    if (buffer === undefined || index < 0) return false;
    const [{ bytes }] = buffer.splice(index, 1) as [ChannelBuffer<T>[number]];
    this.#forget(name, buffer, bytes);
    return true;
  }

  /** Removes expired messages and returns them. */
  expire(nowMs: number): T[] {
    const gone: T[] = [];
    for (const [name, buffer] of this.#buffers)
      while (buffer.length > 0 && buffer[0]!.untilMs <= nowMs) gone.push(this.#shift(name, buffer));
    return gone;
  }

  /** Time at which the next message expires, in milliseconds. Undefined if there is no message. */
  get nextMs(): number | undefined {
    if (this.#buffers.size === 0) return undefined;
    return Math.min(...[...this.#buffers.values()].map(([first]) => first!.untilMs));
  }

  #shift(name: string, buffer: ChannelBuffer<T>): T {
    const first = buffer.shift()!;
    this.#forget(name, buffer, first.bytes);
    return first.entry;
  }

  // A channel without messages has no buffer.
  #forget(name: string, buffer: ChannelBuffer<T>, bytes: number): void {
    this.#bytes -= bytes;
    if (buffer.length === 0) this.#buffers.delete(name);
  }
}
