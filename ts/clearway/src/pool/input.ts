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
 * `lifecycle/inputs.ts`.
 */
export class Input {
  /** Of its frames; 0 before its call leaves. */
  id = 0;
  wire: InputWire | undefined;
  /** What draws the values. */
  feed: Feed | undefined;
  over = false;
  /** What the source does is done in the context of its call. */
  readonly act = inContext(<Result>(act: () => Result): Result => act());

  constructor(
    /** Which argument it stands for. */
    readonly argument: number,
    readonly iterator: AsyncIterator<unknown, unknown, void>,
  ) {}

  /** The call is over, or will never leave: gives the source back, a locked ReadableStream, an iterator at work. */
  stop(): void {
    if (this.over) return;
    this.over = true;
    void this.act(async () => (this.feed ? this.feed.producer.stop() : this.iterator.return?.())).catch(() => {});
  }
}
