// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StandardMessageCodec } from "clearway/channel";
import { timers } from "../timer.js";
import { Op } from "../wire/op.js";

/** Maximum number of progress values in a message. Of more values in one turn, only the newest are sent. */
const valuesMax = 1_024;

/** Sends the values that a task passes to `progress()`: those of one turn of the event loop in one message. */
export class ProgressSender {
  readonly #codec: StandardMessageCodec;
  readonly #send: (bytes: Uint8Array) => void;
  readonly #failed: (reason: unknown) => void;
  #values: unknown[] = [];
  #immediate: NodeJS.Immediate | undefined;

  constructor(codec: StandardMessageCodec, send: (bytes: Uint8Array) => void, failed: (reason: unknown) => void) {
    this.#codec = codec;
    this.#send = send;
    this.#failed = failed;
  }

  add(value: unknown): void {
    this.#values.push(value);
    if (this.#values.length > valuesMax * 2) this.#values = this.#values.slice(-valuesMax);
    this.#immediate ??= timers.setImmediate(() => this.flush());
  }

  /** Drops the values that wait. */
  drop(): void {
    if (this.#immediate) timers.clearImmediate(this.#immediate);
    this.#immediate = undefined;
    this.#values = [];
  }

  /** Sends the values that wait. They must not come after the result. */
  flush(): void {
    const values = this.#values.slice(-valuesMax);
    this.drop();
    if (values.length === 0) return;
    try {
      this.#send(this.#codec.encode([Op.progress, values]));
    } catch (reason) {
      this.#failed(reason);
    }
  }
}
