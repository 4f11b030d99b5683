// SPDX-License-Identifier: MIT OR Apache-2.0

/** How far a producer may run ahead of its consumer. */
export interface Window {
  /** Values that may be in flight or waiting at once. */
  items: number;
  /** Bytes of binary memory that may be in flight or waiting. One larger value may still be sent alone. */
  bytes: number;
}

/** 16 values, 1 MiB: enough to hide a wake-up of 50 us at 100,000 values/s, and cheap to hold. */
export const defaultWindow: Window = { items: 16, bytes: 1 << 20 };

/**
 * The producer's credit. A pure value; the driver of the iterator queries it.
 *
 * A value may be sent while both credits are above zero. A large value can therefore always be sent, and the bytes may go below zero
 * once.
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

/** Credit to return to the producer. */
export interface Grant {
  readonly items: number;
  readonly bytes: number;
}

/** The consumer's credit: the values that it has taken and not yet granted again. It batches grants into one message per half window. */
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

  /** Records that the consumer took a value. Returns a grant when one is due. */
  taken(bytes: number): Grant | undefined {
    const items = ++this.#owedItems;
    this.#owedBytes += bytes;
    if (items * 2 < this.#window.items && this.#owedBytes * 2 < this.#window.bytes) return undefined;
    const grant = { items, bytes: this.#owedBytes };
    this.#owedItems = this.#owedBytes = 0;
    return this.#grant(grant);
  }

  /** The credit that was granted and is not used yet. */
  get left(): Grant {
    return this.#out;
  }

  /** Whether the producer can continue, as far as this side knows. False means that it waits for this consumer. */
  get outstanding(): boolean {
    return this.#out.maySend;
  }

  #grant(grant: Grant): Grant {
    this.#out.grant(grant.items, grant.bytes);
    return grant;
  }
}
