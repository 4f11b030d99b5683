// SPDX-License-Identifier: MIT OR Apache-2.0

/** How far a producer may run ahead of its consumer. */
export interface Window {
  /** Maximum number of values in flight or waiting to be read. */
  items: number;
  /** Maximum bytes of binary memory in flight or waiting to be read. A single value may exceed it. */
  bytes: number;
}

/** The default window: 16 values and 1 MiB. This window hides a wake-up of 50 us at 100,000 values/s, and holds little memory. */
export const defaultWindow: Window = { items: 16, bytes: 1 << 20 };

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

/** Computes the grants that a consumer sends to its producer. Batches them: a consumer sends about two grants per window. */
export class ReceiveCredit {
  readonly #window: Window;
  readonly #out = new SendCredit();
  #owedItems = 0;
  #owedBytes = 0;

  constructor(window: Window) {
    this.#window = window;
  }

  /** Returns the first grant: the whole window. */
  open(): Grant {
    return this.#grant(this.#window);
  }

  /** Records that a value arrived. Returns false if the producer had no credit for it. */
  arrived(bytes: number): boolean {
    if (!this.outstanding) return false;
    this.#out.spend(bytes);
    return true;
  }

  /** Records that the consumer took a value. Returns a grant if one must be sent now. */
  taken(bytes: number): Grant | undefined {
    const items = ++this.#owedItems;
    this.#owedBytes += bytes;
    if (items * 2 < this.#window.items && this.#owedBytes * 2 < this.#window.bytes) return undefined;
    const grant = { items, bytes: this.#owedBytes };
    this.#owedItems = this.#owedBytes = 0;
    return this.#grant(grant);
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
