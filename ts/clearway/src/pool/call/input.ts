// SPDX-License-Identifier: MIT OR Apache-2.0
import { inContext } from "#host";
import type { LedgerSide } from "../../transfer/ledger.js";
import type { Transport } from "../../transport/port.js";

/** The connection over which the values of an input stream are sent. */
export interface InputWire {
  readonly transport: Transport;
  readonly ledger: LedgerSide;
  readonly strict: boolean;
  /** Whether the worker is a child process. Never true in browsers. */
  readonly toProcess?: boolean | undefined;
}

/**
 * Reads the source of an input stream. `Feed` implements it, which is made when a task first reads. The caller's end of a callback implements
 * it, too.
 */
export interface InputFeed {
  readonly producer: { grant(items: number, bytes: number): void; stop(): void };
  /** Ends the stream because a value could not be sent. For a callback, sends an error instead of the value. */
  refuse(value: unknown, reason: unknown): void;
  /** Handles a task's call of the callback. Undefined for a stream. */
  called?(message: unknown): void;
}

/** A stream or a callback that the caller passes to a task. Reads nothing from its source until the task's worker grants credit. */
export class Input {
  /** Id of the stream's frames. 0 until its call is sent. */
  id = 0;
  wire: InputWire | undefined;
  feed: InputFeed | undefined;
  over = false;
  /** Runs the source's code in the async context of the call. */
  readonly act = inContext(<Result>(act: () => Result): Result => act());

  constructor(
    /** Index of the argument that the stream replaces. */
    readonly argument: number,
    readonly iterator: AsyncIterator<unknown, unknown, void>,
    readonly onError: (reason: unknown) => void,
  ) {}

  next(): Promise<IteratorResult<unknown>> {
    return this.iterator.next();
  }

  /**
   * Closes the source. If its reader has left, an error goes to `onError`. Otherwise the reader receives an earlier error, because of which the
   * source is closed.
   */
  async return(): Promise<never> {
    const closed = (async () => this.iterator.return?.())();
    return (await closed.catch((reason) => this.over && this.onError(reason))) as never;
  }

  /**
   * Closes the source, because the call is over, will never be sent, or reads no further. An async generator that awaits a value closes when
   * that value has come, and any other source at once.
   */
  stop(): void {
    if (this.over) return;
    this.over = true;
    void this.act(() => (this.feed ? this.feed.producer.stop() : this.return()));
  }
}
