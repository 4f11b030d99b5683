// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { partsOf, writeError } from "../wire/error-body.js";
import { type FrameParts, Op, Status } from "../wire/frame.js";
import { type Encoded, type Link, nothing, type Received } from "./link.js";
import { after, type Timer } from "./timer.js";

/** What a handler is given beside the message. */
export interface HandlerContext {
  /** The channel's name. */
  readonly channel: string;
  /** Aborts when the caller has cancelled, its time is over, or the transport is closed. Made when it is first read. */
  readonly signal: AbortSignal;
  /** How many milliseconds the caller had left when it sent the call; undefined without a deadline. */
  readonly deadlineMs: number | undefined;
}

/** A request of the other end's: a call or a post. It is answered once; later answers, and those nobody waits for, are dropped. */
export class Served implements HandlerContext {
  readonly deadlineMs: number | undefined;
  settled = false;
  #controller: AbortController | undefined;
  #aborted: unknown;
  #timer: Timer | undefined;

  constructor(
    readonly link: Link,
    readonly id: number,
    readonly channel: string,
    readonly message: Received,
    /** Whether anybody waits for the answer. */
    readonly wanted: boolean,
    deadlineMs: number,
    readonly timeoutMs: number,
    readonly onSettled: (served: Served) => void,
  ) {
    this.deadlineMs = deadlineMs > 0 ? deadlineMs : undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  /** The handler is about to run. */
  start(): void {
    if (this.timeoutMs === 0) return;
    this.#timer = after(this.timeoutMs, () => {
      this.answer(Status.timeout);
      this.abort(new ClearwayError("timeout", `the handler of ${this.channel} ran longer than ${this.timeoutMs} ms`));
    });
  }

  /** Nobody waits any more. */
  abort(reason: unknown): void {
    this.#aborted = reason;
    this.#settle();
    this.#controller?.abort(reason);
  }

  /** Answers; for the plain wire a status other than `done` is no bytes at all. */
  answer(status: Status, message: Encoded = nothing): void {
    if (!this.#settle() || !this.wanted) return;
    const { link } = this;
    try {
      link.send(this.#reply(status), link.wire === "plain" && status !== Status.done ? nothing : message);
    } catch (reason) {
      // Only its size can be wrong by now.
      link.report(reason, this.channel);
      if (link.wire === "plain") return link.control(this.#reply(status));
      link.control(this.#reply(Status.error), { ...nothing, body: writeError(reason, link.bodyBytesMax) });
    }
  }

  /** Answers with what the handler threw. `envelope` makes the plain wire's error; without, that has none. Never throws. */
  fail(thrown: unknown, envelope?: (parts: ReturnType<typeof partsOf>) => Uint8Array): void {
    const { link, channel } = this;
    if (!this.wanted || (link.wire === "plain" && envelope === undefined))
      if (!this.settled) link.report(thrown, channel);
    if (link.wire === "clearway")
      return this.answer(Status.error, { ...nothing, body: writeError(thrown, link.bodyBytesMax) });
    let body: Uint8Array | undefined;
    try {
      body = envelope?.(partsOf(thrown));
    } catch (error) {
      link.report(error, channel);
    }
    this.answer(Status.done, body && { ...nothing, body });
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.#timer);
    this.onSettled(this);
    return true;
  }

  #reply(status: Status): FrameParts {
    const { id } = this;
    return this.link.wire === "plain" ? { op: Op.answer, id } : { op: Op.reply, id, a: status };
  }
}
