// SPDX-License-Identifier: MIT OR Apache-2.0

import type { Timer } from "../../globals.js";
import { clearTimeout } from "../../globals.js";
import { after } from "../../lazy/timer.js";
import { messageBytes } from "../transport/limits.js";
import type { CloseReason } from "../transport/transport.js";
import { type FrameParts, Status } from "../wire/frame.js";
import { bytesOf, type Connection, type Encoded } from "./connection.js";

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

/**
 * Replies that wait while the transport is congested: answers, and ends of streams. Their bytes count against the other end. At
 * the limit `replyBytesMax`, `full` is true. Then no handler starts, and the transport is paused unless an answer to this end
 * may still arrive. A peer that reads no reply for `stallMs` is disconnected.
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
    const { stallMs } = this.#connection.settings;
    if (stallMs === Number.POSITIVE_INFINITY) return;
    this.#stallTimer = after(stallMs, () => this.#disconnect(`has read no answer for ${stallMs} ms`));
  }

  #disconnect(what: string): void {
    this.#owner.end({ code: "timeout", message: `the other end ${what}: ${this.#bytes} bytes of answers wait` });
  }
}
