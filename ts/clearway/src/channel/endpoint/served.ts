// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { Timer } from "../../globals.js";
import { clearTimeout, newAbortController } from "../../globals.js";
import { after } from "../../lazy/timer.js";
import type { ErrorParts } from "../wire/error-body.js";
import { type FrameParts, Op, Status } from "../wire/frame.js";
import { type Connection, type Encoded, nothing, type Received } from "./connection.js";
import type { Answered } from "./replies.js";

/** A handler's second argument. */
export interface HandlerContext {
  /** The channel's name. */
  readonly channel: string;
  /** Aborts when the caller has cancelled, the time limit is over, or the transport has closed. Created when first read. */
  readonly signal: AbortSignal;
  /** Time that the caller had left when it sent the call, in milliseconds. Undefined if the call has no deadline. */
  readonly deadlineMs: number | undefined;
}

/** The owner of a request. It counts the request against `callsMax` and sends the answer. */
export interface ServedOwner {
  /** Called when the request is answered or aborted. */
  settled(served: Served): void;
  /** Whether an answer would have to wait now. */
  readonly repliesWait: boolean;
  /** Sends the answer. Calls `replied` when the answer has been sent, or when it never will be. Never throws. */
  reply(parts: FrameParts, message: Encoded, answered: Answered): void;
  /** Called when the handler has ended and the answer has been sent. The request does not count against `callsMax` any more. */
  finished(served: Served): void;
}

/**
 * A call or a post from the other end. It is answered once. Later answers are dropped, and so are answers that no caller waits
 * for.
 */
export class Served implements HandlerContext, Answered {
  readonly deadlineMs: number | undefined;
  settled = false;
  /** Whether the request counts against `callsMax`. Its owner sets it. */
  counts = false;
  #controller: AbortController | undefined;
  #aborted: unknown;
  #timer: Timer | undefined;
  /** Whether the handler runs. */
  #running = false;
  /** Whether the answer waits to be sent. */
  #leaving = false;

  constructor(
    readonly connection: Connection,
    readonly id: number,
    readonly channel: string,
    readonly message: Received,
    /** Whether the other end wants an answer. */
    readonly wanted: boolean,
    deadlineMs: number,
    readonly timeoutMs: number,
    readonly owner: ServedOwner,
  ) {
    this.deadlineMs = deadlineMs > 0 ? deadlineMs : undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = newAbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  /** Starts the handler's time limit. The owner calls this method just before the handler runs. */
  start(): void {
    this.#running = true;
    if (this.timeoutMs === 0) return;
    this.#timer = after(this.timeoutMs, () => {
      this.answer(Status.timeout);
      this.abort(new ClearwayError("timeout", `the handler of ${this.channel} ran longer than ${this.timeoutMs} ms`));
    });
  }

  /** Called when the handler has ended. A handler that ignores its signal counts against `callsMax` until it ends. */
  ended(): void {
    this.#running = false;
    this.#release();
  }

  /** Settles the request without an answer and aborts the handler's signal. */
  abort(reason: unknown): void {
    this.#aborted = reason;
    this.#settle();
    this.#release();
    this.#controller?.abort(reason);
  }

  /** Sends the answer. On the plain wire, every status except `done` becomes an empty answer. */
  answer(status: Status, message: Encoded = nothing): void {
    if (!this.#settle()) return;
    if (this.wanted) {
      this.#leaving = true;
      this.#send(status, message);
    }
    this.#release();
  }

  /**
   * Answers with a handler's error. `envelope` encodes the error for the plain wire. Without `envelope`, the plain answer is
   * empty. Never throws.
   */
  fail(thrown: unknown, envelope?: (parts: ErrorParts) => Uint8Array): void {
    const { connection, channel } = this;
    if (!this.wanted || (connection.wire === "plain" && envelope === undefined))
      if (!this.settled) connection.report(thrown, channel);
    if (connection.wire === "clearway") return this.answer(Status.error, connection.errorBody(thrown, channel));
    let body: Uint8Array | undefined;
    try {
      body = envelope?.(connection.errorParts(thrown, channel));
    } catch (error) {
      connection.report(error, channel);
    }
    this.answer(Status.done, body && { ...nothing, body });
  }

  #send(status: Status, message: Encoded): void {
    const { connection, owner } = this;
    const plain = connection.wire === "plain";
    const large = connection.tooLarge(message);
    if (large) connection.report(large, this.channel);
    const wrong = large ?? this.#held(message);
    if (wrong && !plain) owner.reply(this.#reply(Status.error), connection.errorBody(wrong, this.channel), this);
    else owner.reply(this.#reply(status), wrong || (plain && status !== Status.done) ? nothing : message, this);
  }

  replied(): void {
    this.#leaving = false;
    this.#release();
  }

  // Clones a value that has to wait, because the handler's code may change it meanwhile. Returns the error of a value that cannot cross.
  #held({ value }: Encoded): unknown {
    if (value === undefined || !this.owner.repliesWait) return undefined;
    try {
      value.hold();
    } catch (error) {
      return error;
    }
    return undefined;
  }

  #release(): void {
    if (this.settled && !this.#running && !this.#leaving) this.owner.finished(this);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.owner.settled(this);
    return true;
  }

  #reply(status: Status): FrameParts {
    const { id, channel } = this;
    return this.connection.wire === "plain" ? { op: Op.answer, id } : { op: Op.reply, id, a: status, channel };
  }
}
