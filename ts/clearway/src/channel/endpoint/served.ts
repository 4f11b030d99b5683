// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { ErrorParts } from "../wire/error-body.js";
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

/** Who keeps a request's place, and sends its answer. */
export interface ServedOwner {
  /** It is answered, or nobody waits for the answer. */
  settled(served: Served): void;
  /** Sends its answer; `gone` is called when that has left. Never throws. */
  reply(parts: FrameParts, message: Encoded, gone: () => void): void;
  /** Its handler has ended, and its answer has left: it takes no place any more. */
  left(served: Served): void;
}

/** A request of the other end's: a call or a post. It is answered once; later answers, and those nobody waits for, are dropped. */
export class Served implements HandlerContext {
  readonly deadlineMs: number | undefined;
  settled = false;
  #controller: AbortController | undefined;
  #aborted: unknown;
  #timer: Timer | undefined;
  /** Its handler runs. */
  #running = false;
  /** Its answer waits to leave. */
  #leaving = false;

  constructor(
    readonly link: Link,
    readonly id: number,
    readonly channel: string,
    readonly message: Received,
    /** Whether anybody waits for the answer. */
    readonly wanted: boolean,
    deadlineMs: number,
    readonly timeoutMs: number,
    readonly owner: ServedOwner,
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
    this.#running = true;
    if (this.timeoutMs === 0) return;
    this.#timer = after(this.timeoutMs, () => {
      this.answer(Status.timeout);
      this.abort(new ClearwayError("timeout", `the handler of ${this.channel} ran longer than ${this.timeoutMs} ms`));
    });
  }

  /** The handler has ended. One that does not end when its signal aborts keeps its place until it does. */
  ended(): void {
    this.#running = false;
    this.#release();
  }

  /** Nobody waits any more. */
  abort(reason: unknown): void {
    this.#aborted = reason;
    this.#settle();
    this.#release();
    this.#controller?.abort(reason);
  }

  /** Answers; for the plain wire a status other than `done` is no bytes at all. */
  answer(status: Status, message: Encoded = nothing): void {
    if (!this.#settle()) return;
    if (this.wanted) {
      this.#leaving = true;
      this.#send(status, message);
    }
    this.#release();
  }

  /** Answers with what the handler threw. `envelope` makes the plain wire's error; without, that has none. Never throws. */
  fail(thrown: unknown, envelope?: (parts: ErrorParts) => Uint8Array): void {
    const { link, channel } = this;
    if (!this.wanted || (link.wire === "plain" && envelope === undefined))
      if (!this.settled) link.report(thrown, channel);
    if (link.wire === "clearway") return this.answer(Status.error, link.errorBody(thrown, channel));
    let body: Uint8Array | undefined;
    try {
      body = envelope?.(link.errorParts(thrown, channel));
    } catch (error) {
      link.report(error, channel);
    }
    this.answer(Status.done, body && { ...nothing, body });
  }

  #send(status: Status, message: Encoded): void {
    const { link, owner } = this;
    const plain = link.wire === "plain";
    const gone = (): void => {
      this.#leaving = false;
      this.#release();
    };
    const wrong = link.tooLarge(message);
    if (wrong) link.report(wrong, this.channel);
    if (wrong && !plain) owner.reply(this.#reply(Status.error), link.errorBody(wrong, this.channel), gone);
    else owner.reply(this.#reply(status), wrong || (plain && status !== Status.done) ? nothing : message, gone);
  }

  #release(): void {
    if (this.settled && !this.#running && !this.#leaving) this.owner.left(this);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.#timer);
    this.owner.settled(this);
    return true;
  }

  #reply(status: Status): FrameParts {
    const { id } = this;
    return this.link.wire === "plain" ? { op: Op.answer, id } : { op: Op.reply, id, a: status };
  }
}
