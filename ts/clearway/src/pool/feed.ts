// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkDepth } from "../error/depth.js";
import { encodeError } from "../error/wire.js";
import { Producer } from "../stream/producer.js";
import { emptySide, isEmpty, type LedgerSide, merge } from "../transfer/ledger.js";
import { prepareValue } from "../transfer/prepare.js";
import { notCloneable } from "../transfer/refusal.js";
import { Op } from "../transport/protocol.js";
import type { InputWire } from "./input.js";

/** Draws from a stream that the caller feeds into a task, as the task reads. Copies values, moves those under `move()`. */
export class Feed {
  readonly producer: Producer;
  readonly #ledger: LedgerSide;
  /** What was entered for values with memory that are with the carrier: it may refuse them. */
  readonly #entered = new WeakMap<object, LedgerSide>();
  #refusal: unknown;

  constructor(id: number, iterator: AsyncIterator<unknown, unknown, void>, { transport, ledger, strict }: InputWire) {
    this.#ledger = ledger;
    this.producer = new Producer(iterator, {
      chunk: (value) => {
        const entry = emptySide();
        const ready = prepareValue(value, strict, entry);
        if (ready.deep) checkDepth(ready.value);
        if (!isEmpty(entry)) {
          merge(ledger, entry);
          this.#entered.set(ready.value as object, entry);
        }
        transport.send(Op.Chunk, id, ready.value, ready.bytes, ready.transfer);
        return ready.bytes;
      },
      end: (value) => {
        // A synchronous source may end in the tick of its last values: whether they could cross shows only now.
        transport.flush();
        if (!this.#refusal) transport.send(Op.End, id, cloneableEnd(value));
        else transport.send(Op.Abort, id, encodeError(this.#refusal));
      },
      fail: (reason) => transport.send(Op.Abort, id, encodeError(this.#refusal ?? reason)),
    });
  }

  /** A value could not cross: the iterator is closed, and the task's reading fails with that. */
  refuse(value: unknown, reason: unknown): void {
    const entry = typeof value === "object" && value !== null ? this.#entered.get(value) : undefined;
    if (entry) merge(this.#ledger, entry, -1);
    this.#refusal = notCloneable("a value of the stream argument", reason);
    this.producer.refuse(this.#refusal);
  }
}

// What an iterator returns at its end has no reader in a `for await`; it is not worth failing the stream for.
function cloneableEnd(value: unknown): unknown {
  return ["object", "function", "symbol"].includes(typeof value) ? undefined : value;
}
