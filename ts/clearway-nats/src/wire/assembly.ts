// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "clearway/remote";
import { malformed } from "./call.js";

/** Bytes of a large message that may be under way. Two parts arrive while the grant for the next two is sent. */
export const partWindow = 1024 * 1024;

/** The owner of the memory that messages from a peer take. */
export interface Charge {
  /** Charges bytes to the peer. Throws `queue-full` if that exceeds a limit. */
  take(bytes: number): void;
  /** Returns bytes that were charged. */
  give(bytes: number): void;
}

/**
 * Joins the parts of a large message. Checks the message's size against the limit and charges it to the peer before it allocates. Grants
 * the peer at most {@link partWindow} bytes at a time.
 */
export class Assembly {
  readonly #bytesMax: number;
  readonly #charge: Charge;
  readonly #grant: (bytes: number) => void;
  #total = 0;
  #at = 0;
  #granted = 0;
  #bytes: Uint8Array | undefined;

  constructor(bytesMax: number, charge: Charge, grant: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#charge = charge;
    this.#grant = grant;
  }

  /** Whether parts of a message are still to come. */
  get open(): boolean {
    return this.#total > 0;
  }

  /** Begins a message. Throws `too-large`, `queue-full`, or `protocol` if another one is not complete. */
  begin(total: unknown): void {
    if (this.open) throw malformed("a large message begins within another one");
    if (!(Number.isSafeInteger(total) && (total as number) > 0)) throw malformed("the size of a large message is none");
    const bytes = total as number;
    if (bytes > this.#bytesMax)
      throw new ClearwayError("too-large", `a message has ${bytes} bytes, and the limit is ${this.#bytesMax}`);
    this.#charge.take(bytes);
    this.#total = bytes;
    this.#at = 0;
    this.#granted = 0;
    this.#more();
  }

  /**
   * Adds a part. Copies it. Returns the whole message with its last part; the caller then owns the memory, and the charge is still held: call
   * {@link drop}. Throws `protocol` for a part without credit.
   */
  add(part: unknown): Uint8Array | undefined {
    if (!this.open) throw malformed("a part belongs to no message");
    if (!(part instanceof Uint8Array) || part.length === 0) throw malformed("a part has no bytes");
    if (part.length > this.#granted - this.#at) throw malformed("a part exceeds its credit");
    // Allocated with the first part, so that a peer that only announces messages takes no memory.
    this.#bytes ??= new Uint8Array(this.#total);
    this.#bytes.set(part, this.#at);
    this.#at += part.length;
    if (this.#at === this.#total) return this.#bytes;
    this.#more();
    return undefined;
  }

  /** Returns the charge, because the message was used, or its call is over. */
  drop(): void {
    const total = this.#total;
    this.#total = 0;
    this.#bytes = undefined;
    if (total > 0) this.#charge.give(total);
  }

  // Grants more when half of the window has arrived.
  #more(): void {
    if (this.#granted - this.#at > partWindow / 2) return;
    const bytes = Math.min(this.#total - this.#granted, this.#at + partWindow - this.#granted);
    if (bytes <= 0) return;
    this.#granted += bytes;
    this.#grant(bytes);
  }
}
