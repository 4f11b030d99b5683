// SPDX-License-Identifier: MIT OR Apache-2.0

import { malformed } from "../wire/call.js";
import type { Charge } from "../wire/parts.js";
import { weightOf } from "../wire/weight.js";
import { type Grant, ReceiveCredit } from "./credit.js";

/** Maximum number of values in an array that `nextBatch()` returns, as for the streams of local pools. */
const batchMax = 1_024;

/** What an {@link Incoming} needs of its call. */
export interface IncomingWire {
  /** Sends credit to the other side. */
  grant(credit: Grant): void;
  /** The memory of the values that wait for the reader. */
  readonly charge: Charge;
}

interface Frame {
  readonly values: readonly unknown[];
  at: number;
  /** Bytes of the message that belong to the values from `at` on. */
  bytesLeft: number;
  /** Memory that is charged for the values from `at` on. */
  chargeLeft: number;
}

interface Waiting {
  readonly batch: boolean;
  resolve(result: IteratorResult<unknown>): void;
  reject(reason: unknown): void;
}

type End = { readonly value: unknown } | { readonly error: unknown };

/** The reader's side of a stream: keeps the values that have arrived, and grants credit as they are read. */
export class Incoming {
  readonly #wire: IncomingWire;
  readonly #credit: ReceiveCredit;
  readonly #frames: Frame[] = [];
  readonly #waiting: Waiting[] = [];
  #end: End | undefined;
  #opened = false;

  constructor(window: Grant, wire: IncomingWire) {
    this.#wire = wire;
    this.#credit = new ReceiveCredit(window);
  }

  /** Whether the stream has ended, although values may still wait for the reader. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** Whether a reader waits for a value. */
  get awaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Records that the first grant was sent in another message. Returns it. */
  opened(): Grant {
    this.#opened = true;
    return this.#credit.open();
  }

  /** Adds the values of a message of `bytes` bytes. Throws `protocol` if the sender had no credit, and `queue-full`. */
  add(values: unknown, bytes: number): void {
    if (this.#end) return; // values that were under way when this side ended the stream
    if (!Array.isArray(values) || values.length === 0) throw malformed("the values of a stream are no list");
    this.#credit.arrived(values.length, bytes);
    const charged = bytes + weightOf(values);
    this.#wire.charge.take(charged);
    this.#frames.push({ values, at: 0, bytesLeft: bytes, chargeLeft: charged });
    this.#deliver();
  }

  /** Ends the stream with its return value. The values that wait remain readable. */
  end(value: unknown): void {
    this.#end ??= { value };
    this.#deliver();
  }

  /** Ends the stream with an error. The values that wait remain readable. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#deliver();
  }

  /** Drops the values that wait, and returns their charge. */
  drop(): void {
    for (const { chargeLeft } of this.#frames.splice(0)) this.#wire.charge.give(chargeLeft);
  }

  /** Reads the next value, or with `batch` the next array of values. */
  next(batch: boolean): Promise<IteratorResult<unknown>> {
    const { promise, waiting } = waitFor(batch);
    this.#waiting.push(waiting);
    if (!this.#opened && !this.#end) {
      const grant = this.opened();
      this.#wire.grant(grant);
    }
    this.#deliver();
    return promise;
  }

  #deliver(): void {
    while (this.#waiting.length > 0) {
      if (this.#frames.length > 0) {
        const { batch, resolve } = this.#waiting.shift()!;
        resolve({ done: false, value: batch ? this.#take(batchMax) : this.#take(1)[0] });
      } else if (this.#end) {
        const { resolve, reject } = this.#waiting.shift()!;
        const end = this.#end;
        // As with a generator, only the first read after the last value receives the return value or the error.
        this.#end = { value: undefined };
        if ("error" in end) reject(end.error);
        else resolve({ done: true, value: end.value });
      } else return;
    }
  }

  #take(most: number): unknown[] {
    const values: unknown[] = [];
    let bytes = 0;
    let charged = 0;
    while (values.length < most && this.#frames.length > 0) {
      const frame = this.#frames[0]!;
      const left = frame.values.length - frame.at;
      const count = Math.min(most - values.length, left);
      const part = count / left;
      const bytesPart = Math.floor(frame.bytesLeft * part);
      const chargePart = Math.floor(frame.chargeLeft * part);
      for (let index = 0; index < count; index++) values.push(frame.values[frame.at++]);
      frame.bytesLeft -= bytesPart;
      frame.chargeLeft -= chargePart;
      bytes += bytesPart;
      charged += chargePart;
      if (count === left) this.#frames.shift();
    }
    this.#wire.charge.give(charged);
    const due = this.#credit.taken(values.length, bytes);
    if (due && !this.#end) this.#wire.grant(due);
    return values;
  }
}

function waitFor(batch: boolean): { promise: Promise<IteratorResult<unknown>>; waiting: Waiting } {
  let waiting: Waiting | undefined;
  const promise = new Promise<IteratorResult<unknown>>((resolve, reject) => {
    waiting = { batch, resolve, reject };
  });
  return { promise, waiting: waiting! };
}
