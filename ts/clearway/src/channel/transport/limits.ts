// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../../error/clearway-error.js";

/** What bounds a transport's memory. */
export interface TransportLimits {
  /** Bytes of the largest frame, both ways; default 64 MiB: a 4K frame of RGBA is 32. */
  readonly frameBytesMax?: number;
  /**
   * How many bytes may wait to leave, or be under way, before `send` returns false; default 1 MiB, as in streams of tasks.
   * One frame larger than this still travels.
   */
  readonly windowBytes?: number;
}

export const defaultFrameBytesMax = 64 << 20;
export const defaultWindowBytes = 1 << 20;

/** The limits, checked and complete. Throws `invalid-argument`. */
export function transportLimits(given: TransportLimits): Required<TransportLimits> {
  const { frameBytesMax = defaultFrameBytesMax, windowBytes = defaultWindowBytes } = given;
  if (!(Number.isInteger(frameBytesMax) && frameBytesMax >= 1 && frameBytesMax <= 0x7fff_ffff))
    throw invalid("frameBytesMax", "a whole number from 1 to 2147483647", frameBytesMax);
  if (!(windowBytes >= 1)) throw invalid("windowBytes", "at least 1", windowBytes);
  return { frameBytesMax, windowBytes };
}

/** Throws what `send` throws: `too-large`, or `invalid-argument` for attachments that cannot move. */
export function checkFrame(
  frame: Uint8Array,
  attachments: readonly Uint8Array[],
  limits: { frameBytesMax: number; moves: boolean; shares: boolean },
): void {
  if (frame.byteLength > limits.frameBytesMax) throw frameTooLarge(frame.byteLength, limits.frameBytesMax);
  for (const { buffer, byteLength } of attachments) {
    const ok = isShared(buffer) ? limits.shares : limits.moves && byteLength === buffer.byteLength;
    if (!ok) throw invalid("attachments", "whole buffers that this transport can move", `${byteLength} bytes`);
  }
}

/** The error for a frame over the limit. */
export function frameTooLarge(bytes: number, frameBytesMax: number): ClearwayError {
  return new ClearwayError("too-large", `a frame of ${bytes} bytes; the transport takes ${frameBytesMax} at most`);
}

/** Whether memory is shared; false where the host has no such memory. */
export function isShared(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
  return typeof SharedArrayBuffer === "function" && buffer instanceof SharedArrayBuffer;
}
