// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseReason } from "../transport/transport.js";
import type { FrameParts } from "../wire/frame.js";
import type { Encoded, Link } from "./link.js";
import { after, type Timer } from "./timer.js";

/** Whose replies they are. */
export interface RepliesOwner {
  /** Whether nothing is to come that this end itself waits for. Two ends that both wait for answers must both read. */
  mayPause(): boolean;
  /** There is room for more. */
  onRoom(): void;
  /** Ends the connection at once: an end that does not read cannot be waited for. */
  end(reason: CloseReason): void;
}

interface Reply {
  readonly parts: FrameParts;
  readonly message: Encoded;
  readonly bytes: number;
  /** It has left for the transport, or never will. */
  readonly gone: () => void;
}

// What a reply without bytes takes here, about.
const replyBytes = 64;
// Refusals that may wait beside the answers of `callsMax` calls. An end that lets more wait does not read at all; Go's HTTP/2 server
// draws the line for such frames at 10,000.
const refusalsMax = 8192;

/**
 * Replies that wait while the transport asks to hold back, charged to the other end. While they are too many bytes, `full` holds: no
 * handler begins, and the transport is paused where nothing that it would bring could help. An end that reads none of them for
 * `stallMs` meanwhile is disconnected.
 */
export class Replies {
  readonly #link: Link;
  readonly #mayPause: () => boolean;
  readonly #onRoom: () => void;
  readonly #end: (reason: CloseReason) => void;
  #waiting: Reply[] = [];
  #bytes = 0;
  #full = false;
  #paused = false;
  #stalled: Timer | undefined;

  constructor(link: Link, { mayPause, onRoom, end }: RepliesOwner) {
    this.#link = link;
    this.#mayPause = mayPause;
    this.#onRoom = onRoom;
    this.#end = end;
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

  /** Sends a reply now, or as soon as there is room. Never throws. */
  send(parts: FrameParts, message: Encoded, gone: () => void): void {
    const link = this.#link;
    if (link.reason !== undefined) return gone();
    if (this.#waiting.length === 0 && !link.congested) {
      link.control(parts, message);
      return gone();
    }
    const beside = message.attachments?.list.reduce((sum, each) => sum + each.length, 0) ?? 0;
    const bytes = replyBytes + message.body.length + beside;
    this.#waiting.push({ parts, message, bytes, gone });
    this.#bytes += bytes;
    const { callsMax, replyBytesMax } = link.settings;
    if (this.#waiting.length > callsMax + refusalsMax) return this.#disconnect("reads no answers and goes on calling");
    if (this.#bytes >= replyBytesMax) this.#fill();
  }

  /** Pauses the transport, or lets go of it, as it may be now. */
  weigh(): void {
    const pause = this.#full && this.#mayPause();
    if (pause === this.#paused) return;
    this.#paused = pause;
    if (pause) this.#link.pause();
    else this.#link.resume();
  }

  /** The transport has room again. */
  drain(): void {
    const before = this.#waiting.length;
    let at = 0;
    const waiting = this.#waiting;
    while (at < waiting.length && !this.#link.congested) {
      const { parts, message, bytes, gone } = waiting[at++]!;
      this.#bytes -= bytes;
      this.#link.control(parts, message);
      gone();
    }
    // What came while these left stands behind them, in the same list.
    this.#waiting = waiting.slice(at);
    if (this.#full && this.#waiting.length < before) this.#look();
  }

  /** Nothing leaves any more. */
  clear(): void {
    clearTimeout(this.#stalled);
    this.#full = false;
    this.#bytes = 0;
    for (const { gone } of this.#waiting.splice(0)) gone();
  }

  #fill(): void {
    if (!this.#full) this.#wind();
    this.#full = true;
    this.weigh();
  }

  /** Some have left. */
  #look(): void {
    clearTimeout(this.#stalled);
    if (this.#bytes * 2 > this.#link.settings.replyBytesMax) return this.#wind();
    this.#full = false;
    this.weigh();
    this.#onRoom();
  }

  #wind(): void {
    const { stallMs } = this.#link.settings;
    if (stallMs === Number.POSITIVE_INFINITY) return;
    this.#stalled = after(stallMs, () => this.#disconnect(`has read no answer for ${stallMs} ms`));
  }

  #disconnect(what: string): void {
    this.#end({ code: "timeout", message: `the other end ${what}: ${this.#bytes} bytes of answers wait` });
  }
}
