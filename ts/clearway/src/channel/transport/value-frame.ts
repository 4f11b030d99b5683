// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../../error/clearway-error.js";
import { messageOf } from "../../error/message-of.js";

// A frame whose message is a value of structured clone (spec/channel.md, "Values by structured clone"). Ports post such frames in a
// flat array, one after the other. Each takes `slots` slots:
//
//   op, flags, id, a, b, c, name, method, value, bytes, copied, moved, shared

/** A frame with a value instead of bytes. The numbers have the meaning that they have in the frames of `wire/frame.ts`. */
export interface ValueFrame {
  readonly op: number;
  readonly flags: number;
  readonly id: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** The channel's name. Empty in frames without a name. */
  readonly name: string;
  /** The method of a call. */
  readonly method: string | undefined;
  readonly value: unknown;
  /** The size that the frame counts for windows, credit and `frameBytesMax`, in bytes: an estimate by its sender. */
  readonly bytes: number;
  /** Bytes of binary memory in the value that were copied, moved and shared. */
  readonly copied: number;
  readonly moved: number;
  readonly shared: number;
}

const slots = 13;
// The slots of the name, the method and the value. All others have numbers.
const nameAt = 6;
const methodAt = 7;
const valueAt = 8;
const bytesAt = 9;

/** Appends a frame to the flat array of a message. */
export function appendValueFrame(flat: unknown[], frame: ValueFrame): void {
  const { op, flags, id, a, b, c, name, method, value, bytes, copied, moved, shared } = frame;
  flat.push(op, flags, id, a, b, c, name, method, value, bytes, copied, moved, shared);
}

/**
 * Reads the frames of a message, which may be hostile. The values are not checked. Returns undefined if the message is not a list of
 * frames.
 */
export function readValueFrames(flat: unknown): ValueFrame[] | undefined {
  if (!Array.isArray(flat) || flat.length === 0 || flat.length % slots !== 0) return undefined;
  const frames: ValueFrame[] = [];
  for (let at = 0; at < flat.length; at += slots) {
    for (let slot = 0; slot < nameAt; slot++) if (!isUint32(flat[at + slot])) return undefined;
    for (let slot = bytesAt; slot < slots; slot++) if (!isUint32(flat[at + slot])) return undefined;
    const name = flat[at + nameAt];
    const method = flat[at + methodAt];
    if (typeof name !== "string" || (method !== undefined && typeof method !== "string")) return undefined;
    frames.push({
      op: flat[at],
      flags: flat[at + 1],
      id: flat[at + 2],
      a: flat[at + 3],
      b: flat[at + 4],
      c: flat[at + 5],
      name,
      method,
      value: flat[at + valueAt],
      bytes: flat[at + bytesAt],
      copied: flat[at + 10],
      moved: flat[at + 11],
      shared: flat[at + 12],
    });
  }
  return frames;
}

/** Returns the typed error for a value that structured clone refused, or whose getter threw. */
export function notCloneable(reason: unknown): ClearwayError {
  const message = `the value cannot cross by structured clone: ${messageOf(reason)}`;
  return caused("not-cloneable", message, reason);
}

function isUint32(value: unknown): boolean {
  return typeof value === "number" && value >>> 0 === value;
}
