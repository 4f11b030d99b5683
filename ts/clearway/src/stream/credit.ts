// SPDX-License-Identifier: MIT OR Apache-2.0

/** How far a producer may run ahead of its consumer. */
export interface Window {
  /** Values that may be under way or waiting at once. */
  items: number;
  /** Bytes of binary memory that may be; one value larger than this may still travel alone. */
  bytes: number;
}

/** 16 values, 1 MiB: enough to hide a wake-up of 50 us at 100,000 values/s, little enough to hold. */
export const defaultWindow: Window = { items: 16, bytes: 1 << 20 };

/**
 * The producer's half: how much it may still send. A pure value; whoever drives the iterator asks it.
 * A value may be sent while both credits are above zero, so that a large one can always travel, and the bytes may go
 * below zero once.
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

/** What to give back to the producer. */
export interface Grant {
  readonly items: number;
  readonly bytes: number;
}

/**
 * The consumer's half: what it has taken and not yet given back. Grants are batched: one message for half a window.
 */
export class ReceiveCredit {
  readonly #window: Window;
  readonly #out = new SendCredit();
  #owedItems = 0;
  #owedBytes = 0;

  constructor(window: Window) {
    this.#window = window;
  }

  /** The first grant: the whole window. */
  open(): Grant {
    return this.#grant(this.#window);
  }

  /** A value arrived; false when the producer had no credit for it. */
  arrived(bytes: number): boolean {
    if (!this.outstanding) return false;
    this.#out.spend(bytes);
    return true;
  }

  /** A value was taken by the consumer; returns a grant when it is time for one. */
  taken(bytes: number): Grant | undefined {
    const items = ++this.#owedItems;
    this.#owedBytes += bytes;
    if (items * 2 < this.#window.items && this.#owedBytes * 2 < this.#window.bytes) return undefined;
    const grant = { items, bytes: this.#owedBytes };
    this.#owedItems = this.#owedBytes = 0;
    return this.#grant(grant);
  }

  /** What was granted and not used yet. */
  get left(): Grant {
    return this.#out;
  }

  /** Whether the producer can go on, as far as this side knows: false means that it waits for this consumer. */
  get outstanding(): boolean {
    return this.#out.maySend;
  }

  #grant(grant: Grant): Grant {
    this.#out.grant(grant.items, grant.bytes);
    return grant;
  }
}
