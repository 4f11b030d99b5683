// SPDX-License-Identifier: MIT OR Apache-2.0
import { Op } from "../../transport/protocol.js";
import { isShared } from "./limits.js";
import type { CloseReason } from "./transport.js";

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
export function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** Joins the frames of one tick. */
export function joined(frames: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(frames.reduce((sum, { byteLength }) => sum + padded(byteLength), 0));
  let at = 0;
  for (const frame of frames) {
    bytes.set(frame, at);
    at += padded(frame.byteLength);
  }
  return bytes;
}

/** Returns whether a frame is a whole buffer, which other code does not share. */
export function fillsBuffer({ buffer, byteLength }: Uint8Array): boolean {
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
  return Array.isArray(given) && given.every((each) => each instanceof Uint8Array) ? given : undefined;
}

export const none: readonly Uint8Array[] = [];

/** The reason of an end whose other end sent something else than these messages. */
export const garbled: CloseReason = { code: "protocol", message: "a message that is not of this protocol" };

/** Makes the ring read its frames and mark this end as reading. */
export const wakeUp = [Op.Mark, 0, undefined, undefined];
