// SPDX-License-Identifier: MIT OR Apache-2.0
import { inContext } from "#host";
import type { LedgerSide } from "../transfer/ledger.js";
import type { Transport } from "../transport/transport.js";
import type { Feed } from "./feed.js";

/** Where the values of an input stream go. */
export interface InputWire {
  readonly transport: Transport;
  readonly ledger: LedgerSide;
  readonly strict: boolean;
  /** What draws the values could not be loaded. */
  failed(reason: unknown): void;
}

/**
 * A stream that the caller feeds into a task. Nothing is drawn before the worker gives credit: what becomes of it then is in
 * `upkeep/inputs.ts`.
 */
export class Input {
  /** Of its frames; 0 before its call leaves. */
  id = 0;
<<<<<<< HEAD
  #wire: InputWire | undefined;
  #feed: Feed | undefined;
  #over = false;
  /** What the source does is done in the context of its call. */
  readonly #act = inContext(<Result>(act: () => Result): Result => act());
=======
  wire: InputWire | undefined;
  /** What draws the values. */
  feed: Feed | undefined;
  over = false;
>>>>>>> fix-pool

  constructor(
    /** Which argument it stands for. */
    readonly argument: number,
    readonly iterator: AsyncIterator<unknown, unknown, void>,
  ) {}

<<<<<<< HEAD
  /** Its call leaves for a worker. */
  connect(id: number, wire: InputWire): void {
    this.id = id;
    this.#wire = wire;
  }

  /** The task reads. */
  async grant(items: number, bytes: number): Promise<void> {
    const wire = this.#wire;
    try {
      const part = this.#feed ? undefined : await loadFeed();
      if (this.#over || !wire) return;
      if (part) this.#feed ??= new part.Feed(this.id, this.iterator, wire);
    } catch (reason) {
      wire?.failed(reason);
    }
    this.#act(() => this.#feed?.producer.grant(items, bytes));
  }

  /** The task reads no further. It does not wait for a source that is at work on its next value: that may never come. */
  leave(): void {
    this.stop();
    this.#wire?.transport.send(Op.End, this.id);
  }

  /** A value could not cross. */
  refuse(value: unknown, reason: unknown): void {
    this.#feed?.refuse(value, reason);
  }

  /** The call is over, or will never leave: gives the source back, a locked ReadableStream, an iterator at work. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    void this.#act(async () => (this.#feed ? this.#feed.producer.stop() : this.iterator.return?.())).catch(() => {});
=======
  /** The call is over, or will never leave: gives the source back, a locked ReadableStream, an iterator at work. */
  stop(): void {
    if (this.over) return;
    this.over = true;
    if (this.feed) this.feed.producer.stop();
    else void (async () => this.iterator.return?.())().catch(() => {});
>>>>>>> fix-pool
  }
}
