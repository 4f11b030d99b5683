// SPDX-License-Identifier: MIT OR Apache-2.0

import { isListOf } from "../../error/wire-check.js";
import { inMicrotask } from "../../lazy/lazy.js";
import { Op } from "../../transport/protocol.js";
import { type CloseReason, isShared } from "./transport.js";

// Messages that a channel posts through a port. Each begins with a fixed text, so that other code can use the same port:
//
//   [ "clearway.channel", Post.frames, lengths, bytes, attachments ]     frames of one tick, one after another; each
//                                                                        begins at a multiple of 8 bytes
//   [ "clearway.channel", Post.framesAsking, ... ]                       the same; the receiver must report the bytes it took
//   [ "clearway.channel", Post.taken, count ]                            bytes taken since the last report; each frame
//                                                                        counts 8 bytes more than it has
//   [ "clearway.channel", Post.ring, memory ]                            offers a ring; later messages have a position in it
//   [ "clearway.channel", Post.opened ]                                  accepts the ring; later messages have a position in it
//   [ "clearway.channel", Post.lifeline, name ]                          a lock that the sender's thread holds while it
//                                                                        lives (browsers)
//   [ "clearway.channel", Post.close, { code, message, detail } ]        the sender has closed
//   [ "clearway.channel", Post.values, frames, count ]                   frames with values (value-frame.ts) in one flat array; and
//                                                                        the bytes taken since the last report, or 0
//   [ "clearway.channel", Post.valuesAsking, frames, count ]             the same; the receiver must report the bytes it took
//
// A sender that takes frames with values says so in its first message of frames, the hello, by a sixth slot: `takesValues`. Ends of older
// versions ignore the slot. Between two ends that take values, a seventh slot of a message of frames may have the bytes taken since the
// last report.
//
// Once a ring is used, each message begins with four more slots: its mark, which gives its position in the ring (spec/ring.md).
// Attachments belong to the last frame of a message. See spec/channel.md, "Ports".

export const portMark = "clearway.channel";

// A frame of at least this size, in bytes, is posted alone and moved. Smaller frames of a tick are joined and cloned. Measured
// round trips in Node 20: up to 4 KiB, both ways take about the same time (43 us cloned, 41 us moved). At 64 KiB, cloning takes
// 51 us and moving 39 us (ts/clearway/bench/channel-port.mjs).
export const movedBytesMin = 4096;

/** Kinds of message. The numbers are part of the wire: add at the end, never renumber. */
export enum Post {
  frames = 0,
  taken = 1,
  close = 2,
  framesAsking = 3,
  ring = 4,
  opened = 5,
  lifeline = 6,
  values = 7,
  valuesAsking = 8,
}

/** The sixth slot of an end's first message of frames, if the end takes frames with values. */
export const takesValues = 1;

/** Returns a length rounded up to a multiple of 8. The next frame begins there. */
function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** Joins the frames of one tick. */
function joined(frames: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(frames.reduce((sum, { byteLength }) => sum + padded(byteLength), 0));
  let at = 0;
  for (const frame of frames) {
    bytes.set(frame, at);
    at += padded(frame.byteLength);
  }
  return bytes;
}

/** Returns whether a frame is a whole buffer, which other code does not share. */
function fillsBuffer({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength === byteLength && !isShared(buffer);
}

/** Returns the frames of a message, as views. Returns undefined if the lengths and the bytes do not match. */
export function framesOf(lengths: unknown, bytes: unknown): Uint8Array[] | undefined {
  if (!Array.isArray(lengths) || !(bytes instanceof Uint8Array)) return undefined;
  if (lengths.length === 1 && lengths[0] === bytes.byteLength) return [bytes];
  const frames: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    if (!(Number.isInteger(length) && length >= 0 && length <= bytes.byteLength - at)) return undefined;
    frames.push(bytes.subarray(at, at + length));
    at += padded(length);
  }
  return frames;
}

/** Returns the attachments of a message. Returns undefined if they are not valid. */
export function attachmentsOf(given: unknown): readonly Uint8Array[] | undefined {
  if (given === undefined) return none;
  return isListOf(given, (each) => each instanceof Uint8Array) ? (given as Uint8Array[]) : undefined;
}

export const none: readonly Uint8Array[] = [];

/** The reason of an end whose other end sent something else than these messages. */
export const garbled: CloseReason = { code: "protocol", message: "a message that is not of this protocol" };

/** Makes the ring read its frames and mark this end as reading. */
export const wakeUp = [Op.Mark, 0, undefined, undefined];

// Number of turns of the microtask queue that a report waits for a message to take it along. Code that awaits a call through an async
// function runs three turns after the reply.
const turnsMax = 8;

/** A report of taken bytes, which waits for the next message: a reply, or the reader's next call. */
class TakenReport {
  #bytes = 0;
  #turnsLeft = 0;
  /** Whether a turn is scheduled. */
  #waits = false;
  readonly #post: () => void;

  /** `post` posts the report alone. It is called if no message of this tick took the report along. */
  constructor(post: () => void) {
    this.#post = post;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    if (this.#bytes === 0) this.#turnsLeft = turnsMax;
    this.#bytes += bytes;
    if (this.#waits) return;
    this.#waits = true;
    inMicrotask(this.#turn);
  }

  /** Returns the bytes of the report, which the caller sends. */
  take(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  readonly #turn = (): void => {
    if (this.#bytes > 0 && this.#turnsLeft-- > 0) return inMicrotask(this.#turn);
    this.#waits = false;
    if (this.#bytes > 0) this.#post();
  };
}

/** Writes the messages of one end of a port. They take along what would need messages of its own: requests for a report, and reports. */
export class PortWriter {
  /** Whether the next message of frames tells the other end that this end takes values. */
  announces = false;
  /** Whether the next message asks the receiver to report the bytes that it took. */
  asks = false;
  /** The bytes that this end took, which the next message reports. */
  readonly report: TakenReport;

  /** `flush` posts what waits. It is called if no message took a report along. */
  constructor(flush: () => void) {
    this.report = new TakenReport(flush);
  }

  /** Writes a message with the frames of a flat array (`transport.ts`). */
  values(flat: unknown[]): unknown[] {
    const message = [portMark, this.asks ? Post.valuesAsking : Post.values, flat, this.report.take()];
    this.asks = false;
    return message;
  }

  /** Writes a message of frames. Appends to `transfer` what must move with it. `moves` is false on a port that moves nothing. */
  frames(
    frames: readonly Uint8Array[],
    attachments: readonly Uint8Array[],
    moves: boolean,
    transfer: ArrayBuffer[],
  ): unknown[] {
    const lengths = frames.map(({ byteLength }) => byteLength);
    const all = frames.length === 1 ? (frames[0] as Uint8Array) : joined(frames);
    // Posting a view clones the view's whole buffer, which may hold other data.
    const bytes = fillsBuffer(all) ? all : all.slice();
    for (const { buffer } of attachments) if (!isShared(buffer)) transfer.push(buffer);
    if (moves && bytes.byteLength >= movedBytesMin) transfer.push(bytes.buffer as ArrayBuffer);
    const message: unknown[] = [portMark, this.asks ? Post.framesAsking : Post.frames, lengths, bytes];
    const report = this.report.take();
    const last = report > 0 ? 3 : this.announces ? 2 : attachments.length > 0 ? 1 : 0;
    if (last > 0) message.push(attachments.length > 0 ? attachments : undefined);
    if (last > 1) message.push(this.announces ? takesValues : undefined);
    if (last > 2) message.push(report);
    this.asks = false;
    this.announces = false;
    return message;
  }
}
