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
 */
export class ReceiveCredit {
  readonly #bytes: number;
  readonly #clock: (() => number) | undefined;
  readonly #out = new SendCredit();
  #items: number;
  #owedItems = 0;
  #owedBytes = 0;
  #grantedMs = 0;

  /** `clock` returns the time in milliseconds. It is required for a window that adapts. */
  constructor({ items, bytes }: WindowSetting, clock?: () => number) {
    this.#items = items ?? defaultWindow.items;
    this.#bytes = bytes;
    this.#clock = items === undefined ? clock : undefined;
  }

  /** Returns the first grant: the whole window. */
  open(): Grant {
    this.#grantedMs = this.#clock?.() ?? 0;
    return this.#grant({ items: this.#items, bytes: this.#bytes });
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
    const dueItems = this.#owedItems * 2 >= this.#items;
    if (!dueItems && this.#owedBytes * 2 < this.#bytes) return undefined;
    const change = dueItems && this.#clock ? this.#adapt(this.#clock()) : 0;
    const grant = { items: this.#owedItems + change, bytes: this.#owedBytes };
    this.#owedItems = this.#owedBytes = 0;
    return this.#grant(grant);
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

  #grant(grant: Grant): Grant {
    this.#out.grant(grant.items, grant.bytes);
    return grant;
  }
}
