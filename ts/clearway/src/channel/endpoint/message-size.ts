// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { padded } from "../wire/frame.js";

/** Returns the size of a frame's part after the name, if the frame contains its attachments, in bytes. */
export function inlineBytes(body: Uint8Array, list: readonly Uint8Array[]): number {
  if (list.length === 0) return body.length;
  return list.reduce((sum, each) => sum + padded(each.length), padded(body.length) + padded(list.length * 4));
}

/** Returns the error for a message that does not fit into a frame. */
export function tooLarge(bytes: number, max: number): ClearwayError {
  return new ClearwayError("too-large", `a message of ${bytes} bytes; the way to the other end takes ${max} at most`);
}
