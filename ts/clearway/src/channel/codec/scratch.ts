// SPDX-License-Identifier: MIT OR Apache-2.0
import { isShared } from "../transport/limits.js";
import { requireLittleEndian } from "./host-order.js";
import { checkTarget } from "./input.js";
import { refusal } from "./refusal.js";
import { released } from "./released.js";
import { smallBytes } from "./slab.js";
import { putBack, takeWriter, type Writer } from "./writer.js";

type Write<T> = (writer: Writer, value: T) => void;

/** Writes small parts into scratch, and copies a message of its exact size out of those and the long lists. */
export function encodeWith<T>(write: Write<T>, value: T): Uint8Array {
  requireLittleEndian();
  const writer = takeWriter();
  try {
    write(writer, value);
    if (writer.offset === 0) return new Uint8Array();
    if (writer.lateBytes === 0) return writer.passing ? passing(writer) : writer.bytes.slice(0, writer.at);
    const message = memory(writer.offset);
    copyOut(writer, message, 0);
    return message;
  } finally {
    putBack(writer);
  }
}

function passing({ bytes, at }: Writer): Uint8Array {
  const message = smallBytes(at);
  message.set(bytes.subarray(0, at));
  return message;
}

/** The same to a place that has room, else returns -1. */
export function encodeWithInto<T>(write: Write<T>, value: T, into: Uint8Array, offset: number): number {
  requireLittleEndian();
  checkTarget(into, offset);
  const writer = takeWriter();
  try {
    write(writer, value);
    const size = writer.offset;
    if (size > into.length - offset) return -1;
    if (writer.lateBytes === 0) into.set(writer.bytes.subarray(0, size), offset);
    else copyOut(writer, into, offset);
    return size;
  } finally {
    putBack(writer);
  }
}

function memory(bytes: number): Uint8Array {
  try {
    return new Uint8Array(bytes);
  } catch (cause) {
    throw refusal("too-large", `no memory for a message of ${bytes} bytes`, bytes, cause);
  }
}

// Throws before anything is written, or not at all.
function copyOut({ bytes, at, late }: Writer, into: Uint8Array, offset: number): void {
  for (const each of late) {
    // A getter or an extension that was called behind it may have moved it away.
    if (each.bytes.length !== each.length) throw released();
    // What stands before it is not to be written over it. Of shared memory there may be two buffers.
    const same = each.bytes.buffer === into.buffer || (isShared(each.bytes.buffer) && isShared(into.buffer));
    if (same) each.bytes = new Uint8Array(each.bytes);
  }
  let from = 0;
  let to = offset;
  for (const each of late) {
    into.set(bytes.subarray(from, each.at), to);
    to += each.at - from;
    into.set(each.bytes, to);
    to += each.length;
    from = each.at;
  }
  into.set(bytes.subarray(from, at), to);
}
