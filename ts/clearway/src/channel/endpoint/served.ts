// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../../error/clearway-error.js";
import { clearTimeout, newAbortController, type Timer } from "../../globals.js";
import { timeLimit } from "../../lazy/lazy.js";
import { type CloseReason, messageBytes } from "../transport/transport.js";
import type { ErrorParts } from "../wire/error-body.js";
import { type FrameParts, Op, Status } from "../wire/frame.js";
import { type Connection, nothing } from "./connection.js";
import { bytesOf, type Encoded, type Received } from "./outgoing-value.js";

/** The owner of the replies. */
export interface RepliesOwner {
  /**
   * Whether the transport may be paused. It may not be paused while answers to this end may still arrive, even if their callers
   * have given up: if answers wait at both ends, one end must read.
   */
  mayPause(): boolean;
  /** Called when there is room for more answers. */
  onRoom(): void;
  /** Closes the connection at once, because the other end does not read. */
  end(reason: CloseReason): void;
}

/** The request that a reply answers. */
export interface Answered {
  /** Called when the reply has been passed to the transport, or when it never will be. */
  replied(): void;
}

interface Reply {
  readonly parts: FrameParts;
  readonly message: Encoded;
  readonly bytes: number;
  readonly answered: Answered | undefined;
}

// Maximum number of waiting refusals, in addition to the answers of `callsMax` calls. A peer that lets more of them wait does
// not read at all. Go's HTTP/2 server allows 10,000 such frames.
const refusalsMax = 8192;

// The part of a large message for which a peer has `stallMs`, in bytes. By the default, a peer that reads 35 KB/s is not disconnected. How much
// of a message has left is not known: in Node, all bytes of a write wait until the last of them is written.
const stallBytes = 1 << 20;

/**
 * Replies that wait while the transport is congested: answers, and ends of streams. Their bytes count against the other end. At
 * the limit `replyBytesMax`, `full` is true. Then no handler starts, and the transport is paused unless an answer to this end
 * may still arrive. A peer that reads no reply for `stallMs` is disconnected, or for `stallMs` per MiB while a larger message leaves.
 */
export class Replies {
  readonly #connection: Connection;
  readonly #owner: RepliesOwner;
  #waiting: Reply[] = [];
  #bytes = 0;
  #full = false;
  #paused = false;
  #stallTimer: Timer | undefined;

  constructor(connection: Connection, owner: RepliesOwner) {
    this.#connection = connection;
    this.#owner = owner;
  }

  get size(): number {
    return this.#waiting.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get full(): boolean {
    return this.#full;
  }

  /** Whether a reply would have to wait now. */
  get wait(): boolean {
    return this.#waiting.length > 0 || this.#connection.congested;
  }

  /** Sends a reply now, or later when there is room. Never throws. */
  send(parts: FrameParts, message: Encoded, answered: Answered | undefined): void {
    const connection = this.#connection;
    if (connection.reason !== undefined) return answered?.replied();
    if (!this.wait) {
      this.#leave(parts, message);
      return answered?.replied();
    }
    const bytes = messageBytes + bytesOf(message);
    this.#waiting.push({ parts, message, bytes, answered });
    this.#bytes += bytes;
    const { callsMax, replyBytesMax } = connection.settings;
    if (this.#waiting.length > callsMax + refusalsMax) return this.#disconnect("reads no answers and goes on calling");
    if (this.#bytes >= replyBytesMax) this.#fill();
  }

  /** Pauses or resumes the transport, depending on the current state. */
  updatePause(): void {
    const pause = this.#full && this.#owner.mayPause();
    if (pause === this.#paused) return;
    this.#paused = pause;
    if (pause) this.#connection.pause();
    else this.#connection.resume();
  }

  /** Sends waiting replies. The owner calls this when the transport has room again. */
  drain(): void {
    const before = this.#waiting.length;
    let at = 0;
    const waiting = this.#waiting;
    while (at < waiting.length && !this.#connection.congested) {
      const { parts, message, bytes, answered } = waiting[at++]!;
      this.#bytes -= bytes;
      this.#leave(parts, message);
      answered?.replied();
    }
    // Replies that were added during the loop are at the end of the same list.
    this.#waiting = waiting.slice(at);
    if (this.#full && this.#waiting.length < before) this.#afterDrain();
  }

  /** Drops all waiting replies. The owner calls this when the transport has closed. */
  clear(): void {
    clearTimeout(this.#stallTimer);
    this.#full = false;
    this.#bytes = 0;
    for (const { answered } of this.#waiting.splice(0)) answered?.replied();
  }

  // A value that structured clone refuses is known only when it leaves. The caller then receives that error.
  #leave(parts: FrameParts, message: Encoded): void {
    const connection = this.#connection;
    if (message.value === undefined) return connection.control(parts, message);
    try {
      connection.send(parts, message);
    } catch (error) {
      connection.control({ ...parts, a: Status.error }, connection.errorBody(error, parts.channel ?? ""));
    }
  }

  #fill(): void {
    if (!this.#full) this.#startStallTimer();
    this.#full = true;
    this.updatePause();
  }

  /** Updates the state after some replies have been sent. */
  #afterDrain(): void {
    clearTimeout(this.#stallTimer);
    if (this.#bytes * 2 > this.#connection.settings.replyBytesMax) return this.#startStallTimer();
    this.#full = false;
    this.updatePause();
    this.#owner.onRoom();
  }

  #startStallTimer(): void {
    const { settings, fillingBytes } = this.#connection;
    const ms = settings.stallMs * Math.max(1, Math.ceil(fillingBytes / stallBytes));
    if (ms === Number.POSITIVE_INFINITY) return;
    const timer = timeLimit(ms, () => {
      if (this.#full && this.#stallTimer === timer) this.#disconnect(`has read no answer for ${ms} ms`);
    });
    this.#stallTimer = timer;
  }

  #disconnect(what: string): void {
    this.#owner.end({ code: "timeout", message: `the other end ${what}: ${this.#bytes} bytes of answers wait` });
  }
}

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
  /** Called when the request is answered or aborted, before its answer is sent. */
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
    this.#timer = timeLimit(this.timeoutMs, () => {
      if (this.settled) return;
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
