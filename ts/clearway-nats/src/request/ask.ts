// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Msg } from "@nats-io/transport-node";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError } from "clearway/remote";
import { fields } from "../wire/call.js";
import { hadNoReceiver } from "./link.js";

/** How a question ends. */
export interface AskSink {
  resolve(fields: readonly unknown[]): void;
  reject(reason: unknown): void;
  /** Frees the question's token. */
  forget(): void;
}

/** A question to one worker, which has one answer. */
export class Ask {
  silent = 0;
  /** A question has no worker that could do without its answer. */
  readonly worker = undefined;
  /** The id of the worker process. */
  readonly target: string;
  readonly #codec: StandardMessageCodec;
  readonly #sink: AskSink;

  constructor(target: string, codec: StandardMessageCodec, sink: AskSink) {
    this.target = target;
    this.#codec = codec;
    this.#sink = sink;
  }

  /** Handles the answer. */
  receive(message: Msg): void {
    this.#sink.forget();
    if (hadNoReceiver(message))
      return this.#sink.reject(new ClearwayError("worker-lost", "the worker process is gone"));
    try {
      this.#sink.resolve(fields(this.#codec, message.data, false));
    } catch (reason) {
      this.#sink.reject(reason);
    }
  }

  alive(): void {}

  cancel(reason: unknown): void {
    this.lose(reason);
  }

  lose(reason: unknown): void {
    this.#sink.forget();
    this.#sink.reject(reason);
  }
}
