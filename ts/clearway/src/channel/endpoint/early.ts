// SPDX-License-Identifier: MIT OR Apache-2.0

/** Early messages of one channel. */
interface ChannelBuffer<T> {
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
const buffersMax = 1024;

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
    const buffer = this.#buffer(name);
    const gone: T[] = [];
    if (buffer.max === 0 || bytes > this.#limits.bytesMax) return [entry];
    while (buffer.kept.length >= buffer.max) gone.push(this.#shift(buffer));
    while (this.#bytes + bytes > this.#limits.bytesMax && buffer.kept.length > 0) gone.push(this.#shift(buffer));
    // Adding a message never drops messages of other channels.
    if (this.#bytes + bytes > this.#limits.bytesMax) return [...gone, entry];
    buffer.kept.push({ entry, bytes, untilMs: nowMs + this.#limits.keptMs });
    this.#bytes += bytes;
    return gone;
  }

  /** Whether a message of a channel is kept. */
  has(name: string): boolean {
    return this.#bytes > 0 && (this.#buffers.get(name)?.kept.length ?? 0) > 0;
  }

  /** Removes all messages of a channel and returns them, oldest first. */
  take(name: string): T[] {
    const buffer = this.#buffers.get(name);
    const all: T[] = [];
    while (buffer && buffer.kept.length > 0) all.push(this.#shift(buffer));
    return all;
  }

  /** Removes a message. Returns false if the message is not kept. */
  remove(name: string, entry: T): boolean {
    const buffer = this.#buffers.get(name);
    const index = buffer?.kept.findIndex((each) => each.entry === entry) ?? -1;
    if (buffer === undefined || index < 0) return false;
    this.#bytes -= buffer.kept[index]!.bytes;
    buffer.kept.splice(index, 1);
    return true;
  }

  /** Sets how many messages are kept for a channel. Removes and returns the oldest messages above that number. */
  resize(name: string, max: number): T[] {
    const buffer = this.#buffer(name);
    buffer.max = max;
    const gone: T[] = [];
    while (buffer.kept.length > max) gone.push(this.#shift(buffer));
    return gone;
  }

  /** Removes expired messages and returns them. */
  expire(nowMs: number): T[] {
    const gone: T[] = [];
    for (const buffer of this.#buffers.values()) {
      while (buffer.kept.length > 0 && buffer.kept[0]!.untilMs <= nowMs) gone.push(this.#shift(buffer));
    }
    return gone;
  }

  /** Time at which the next message expires, in milliseconds. Undefined if there is no message. */
  get nextMs(): number | undefined {
    let next: number | undefined;
    for (const { kept } of this.#buffers.values()) {
      if (kept[0] !== undefined && (next === undefined || kept[0].untilMs < next)) next = kept[0].untilMs;
    }
    return next;
  }

  #buffer(name: string): ChannelBuffer<T> {
    const before = this.#buffers.get(name);
    if (before !== undefined) return before;
    if (this.#buffers.size >= buffersMax) this.#removeEmpty();
    const buffer: ChannelBuffer<T> = { max: this.#limits.each, kept: [] };
    this.#buffers.set(name, buffer);
    return buffer;
  }

  #removeEmpty(): void {
    for (const [name, { kept }] of this.#buffers) {
      if (kept.length > 0) continue;
      this.#buffers.delete(name);
      return;
    }
  }

  #shift(buffer: ChannelBuffer<T>): T {
    const first = buffer.kept.shift()!;
    this.#bytes -= first.bytes;
    return first.entry;
  }
}
