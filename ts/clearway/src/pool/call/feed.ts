// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkDepth } from "../../error/depth.js";
import { Producer, type ProducerWire } from "../../stream/producer.js";
import { emptySide, isEmpty, type LedgerSide, merge } from "../../transfer/ledger.js";
import { prepareForProcess, prepareValue } from "../../transfer/move.js";
import { refusalOf } from "../../transfer/refusal.js";
import { encodeThrown } from "../../transfer/thrown.js";
import { inForm, Op } from "../../transport/protocol.js";
import { turnBudget } from "../../transport/turn-budget.js";
import type { InputFeed, InputWire } from "./input.js";

/** Reads a stream that the caller passes to a task, as fast as the task reads. Copies the values, and moves those under `move()`. */
export class Feed implements InputFeed {
  readonly producer: Producer;
  readonly #ledger: LedgerSide;
  /** Ledger entries of sent values that contain memory. If the transport then refuses a value, its entries are reversed. */
  readonly #entered = new WeakMap<object, LedgerSide>();
  #refusal: unknown;

  constructor(id: number, iterator: AsyncIterator<unknown, unknown, void>, wire: InputWire) {
    const { transport, ledger, strict } = wire;
    const prepare = hasProcesses && wire.toProcess ? prepareForProcess : prepareValue;
    this.#ledger = ledger;
    const producerWire: ProducerWire = {
      transport,
      chunk: (value, weigh) => {
        const entry = emptySide();
        try {
          const ready = prepare(value, strict, entry);
          if (ready.deep) checkDepth(ready.value);
          const [op, slot] = inForm(Op.Chunk, ready.form, ready.value);
          if (!isEmpty(entry)) {
            merge(ledger, entry);
            this.#entered.set(slot as object, entry);
          }
          const bytes = ready.bytes + weigh(ready.value);
          transport.send(op, id, slot, bytes, ready.transfer);
          return bytes;
        } catch (reason) {
          throw refusalOf(what, reason);
        }
      },
      end: (value) => {
        // A synchronous source may end in the same tick as its last values. Only a flush shows whether these values can be sent.
        transport.flush();
        if (!this.#refusal) transport.send(Op.End, id, cloneableEnd(value));
        else transport.send(Op.Abort, id, encodeThrown(this.#refusal));
      },
      fail: (reason) => transport.send(Op.Abort, id, encodeThrown(this.#refusal ?? reason)),
    };
    // The source is code of the caller's thread, and may have all its values.
    this.producer = new Producer(iterator, producerWire, turnBudget);
  }

  /** Closes the iterator, because a value could not be sent. The task's next read fails with that reason. */
  refuse(value: unknown, reason: unknown): void {
    const entry = typeof value === "object" && value !== null ? this.#entered.get(value) : undefined;
    if (entry) merge(this.#ledger, entry, -1);
    this.#refusal = refusalOf(what, reason);
    this.producer.refuse(this.#refusal);
  }
}

// What the errors for such a value call it.
const what = "a value of the stream argument";

// Returns the return value of the iterator, or undefined for a type that may be impossible to send. A `for await` ignores the return value,
// so the value must not fail the stream.
function cloneableEnd(value: unknown): unknown {
  return ["object", "function", "symbol"].includes(typeof value) ? undefined : value;
}
