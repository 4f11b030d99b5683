// SPDX-License-Identifier: MIT OR Apache-2.0

/** How far a producer may run ahead of its consumer. */
export interface Window {
  /** Maximum number of values in flight or waiting to be read. */
  items: number;
  /** Maximum bytes of binary memory in flight or waiting to be read. A single value may exceed it. */
  bytes: number;
}

/** A window as the app has set it. Without `items`, the consumer adapts the number of values to the reader's speed. */
export interface WindowSetting {
  items?: number | undefined;
  bytes: number;
}

/** The default window of a pool's streams. */
export const adaptiveWindow: WindowSetting = { bytes: 1 << 20 };

/** The default window: 16 values and 1 MiB. This window hides a wake-up of 50 us at 100,000 values/s, and holds little memory. */
export const defaultWindow: Window = { items: 16, bytes: adaptiveWindow.bytes };

/** Maximum number of values of a window that adapts. At a million values a second, the reader reads half of such a window in 0.5 ms. */
export const adaptiveItemsMax = 1024;

/**
 * Maximum number of values that a pool's stream has in flight, if its window is larger. One turn of the event loop may have to receive all
 * values in flight, and 1,024 small values take it about a millisecond.
 */
export const inFlightMax = adaptiveItemsMax;

/** The window doubles when its half was read faster than this, in milliseconds. It halves when that took `shrinkFactor` times as long. */
const halfWindowMs = 1;
const shrinkFactor = 4;

/**
 * The credit of a producer: the items and bytes that it may still send.
 *
 * The producer may send a value while both credits are above zero, whatever the value's size. The bytes may therefore go below zero, by at
 * most one value.
 */
export class SendCredit implements Grant {
  items = 0;
  bytes = 0;

  grant(items: number, bytes: number): void {
    this.items += items;
    this.bytes += bytes;
  }

  spend(bytes: number): void {
    this.items -= 1;
    this.bytes -= bytes;
  }

  get maySend(): boolean {
    return this.items > 0 && this.bytes > 0;
  }
}

/** An amount of credit. */
export interface Grant {
  readonly items: number;
  readonly bytes: number;
}

/**
 * Computes the grants that a consumer sends to its producer. Batches them: a consumer sends about two grants per window.
 *
 * A window without a number of values begins with 16. It grows while the reader reads half of it in less than a millisecond, because each
 * message then carries only a few values. It shrinks again for a slower reader. A producer that is slow, or values that take long to read,
 * therefore keep the small window.
 *
 * A part of a large window is granted only after earlier values have arrived, so that the values in flight stay below their own limit.
 */
export class ReceiveCredit {
  readonly #inFlightMax: number;
  readonly #bytes: number;
  readonly #clock: (() => number) | undefined;
  readonly #out = new SendCredit();
  #items: number;
  /** Items of the window that are not granted, because too many values would be in flight. */
  #withheld = 0;
  #owedItems = 0;
  #owedBytes = 0;
  #grantedMs = 0;

  /**
   * `clock` returns the time in milliseconds. It is required for a window that adapts. If `inFlightMax` is given, the consumer must call
   * `more` after values have arrived.
   */
  constructor({ items, bytes }: WindowSetting, clock?: () => number, inFlightMax = Number.POSITIVE_INFINITY) {
    this.#inFlightMax = inFlightMax;
    this.#items = items ?? defaultWindow.items;
    this.#bytes = bytes;
    this.#clock = items === undefined ? clock : undefined;
  }

  /** Returns the first grant: the whole window, or the values that may be in flight. */
  open(): Grant {
    this.#grantedMs = this.#clock?.() ?? 0;
    return this.#grant(this.#items, this.#bytes);
  }

  /** Whether values have arrived in whose place others may now be in flight. If so, `more` returns a grant. */
  get hasMore(): boolean {
    return this.#withheld > 0 && this.#out.items * 2 <= this.#inFlightMax;
  }

  /** Returns a grant of the items that were withheld, as far as they may be in flight. */
  more(): Grant {
    return this.#grant(0, 0);
  }

  /** Records that a value arrived. Returns false if the producer had no credit for it. */
  arrived(bytes: number): boolean {
    if (!this.outstanding) return false;
    this.#out.spend(bytes);
    return true;
  }

  /** Records that the consumer took a value. Returns a grant if one must be sent now. */
  taken(bytes: number): Grant | undefined {
    this.#owedItems++;
    this.#owedBytes += bytes;
    const dueItems = this.#owedItems * 2 >= Math.min(this.#items, this.#inFlightMax);
    if (!dueItems && this.#owedBytes * 2 < this.#bytes) return undefined;
    const change = dueItems && this.#clock ? this.#adapt(this.#clock()) : 0;
    const due = { items: this.#owedItems + change, bytes: this.#owedBytes };
    this.#owedItems = this.#owedBytes = 0;
    return this.#grant(due.items, due.bytes);
  }

  /** Adapts the window to the time since the last grant. Returns by how many values it has changed. */
  #adapt(nowMs: number): number {
    const tookMs = nowMs - this.#grantedMs;
    this.#grantedMs = nowMs;
    const before = this.#items;
    if (tookMs < halfWindowMs) this.#items = Math.min(before * 2, adaptiveItemsMax);
    // A grant is at least half of the old window, so that half of it can be withheld.
    else if (tookMs > halfWindowMs * shrinkFactor) this.#items = Math.max(before / 2, defaultWindow.items);
    return this.#items - before;
  }

  /** The credit that was granted and that the producer has not used yet. */
  get left(): Grant {
    return this.#out;
  }

  /** Whether the producer has credit left, as far as this side knows. If false, the producer waits for this consumer. */
  get outstanding(): boolean {
    return this.#out.maySend;
  }

  #grant(due: number, bytes: number): Grant {
    this.#withheld += due;
    const items = Math.max(0, Math.min(this.#withheld, this.#inFlightMax - this.#out.items));
    this.#withheld -= items;
    this.#out.grant(items, bytes);
    return { items, bytes };
  }
}
