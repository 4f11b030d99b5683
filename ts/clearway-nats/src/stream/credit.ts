// SPDX-License-Identifier: MIT OR Apache-2.0
import { malformed } from "../wire/call.js";

/** An amount of credit. */
export interface Grant {
  readonly items: number;
  readonly bytes: number;
}

/** The largest window of a stream. A peer may grant more credit, but a sender does not use it: what it sends waits in this process. */
export const creditMax: Grant = { items: 65_536, bytes: 64 * 2 ** 20 };

/**
 * The credit of a sender: the values and bytes that it may still send. It may send a message while both are above zero, with at most that
 * number of values. The bytes may therefore go below zero, by one message.
 */
export class SendCredit {
  items = 0;
  bytes = 0;

  /** Adds credit that the other side sent. Throws `protocol` for amounts that are none. */
  grant(items: unknown, bytes: unknown): void {
    if (!Number.isSafeInteger(items) || !isAmount(items) || !isAmount(bytes)) throw malformed("credit is no amount");
    this.items = Math.min(this.items + items, creditMax.items);
    this.bytes = Math.min(this.bytes + bytes, creditMax.bytes);
  }

  spend(items: number, bytes: number): void {
    this.items -= items;
    this.bytes -= bytes;
  }

  get maySend(): boolean {
    return this.items > 0 && this.bytes > 0;
  }
}

const isAmount = (value: unknown): value is number => typeof value === "number" && value >= 0;

/** The credit that a reader gives. Batches the grants: about two for each window. */
export class ReceiveCredit {
  readonly #window: Grant;
  #outItems = 0;
  #outBytes = 0;
  #owedItems = 0;
  #owedBytes = 0;

  constructor(window: Grant) {
    this.#window = window;
  }

  /** Returns the first grant: the whole window. */
  open(): Grant {
    this.#outItems += this.#window.items;
    this.#outBytes += this.#window.bytes;
    return this.#window;
  }

  /** Records that a message arrived. Throws `protocol` if its sender had no credit for it. */
  arrived(items: number, bytes: number): void {
    if (items > this.#outItems || this.#outBytes <= 0) throw malformed("values exceed their credit");
    this.#outItems -= items;
    this.#outBytes -= bytes;
  }

  /** Records that the reader took values. Returns a grant if one must be sent now. */
  taken(items: number, bytes: number): Grant | undefined {
    this.#owedItems += items;
    this.#owedBytes += bytes;
    if (this.#owedItems * 2 < this.#window.items && this.#owedBytes * 2 < this.#window.bytes) return undefined;
    const due = { items: this.#owedItems, bytes: this.#owedBytes };
    this.#outItems += due.items;
    this.#outBytes += due.bytes;
    this.#owedItems = this.#owedBytes = 0;
    return due;
  }
}
