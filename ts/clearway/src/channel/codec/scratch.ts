// SPDX-License-Identifier: MIT OR Apache-2.0
import { requireLittleEndian } from "./host-order.js";
import { checkTarget } from "./input.js";
import { putBack, takeWriter, type Writer } from "./writer.js";

type Write<T> = (writer: Writer, value: T) => void;

/** Writes into scratch and copies out a message of its exact size. */
export function encodeWith<T>(write: Write<T>, value: T): Uint8Array {
  requireLittleEndian();
  const writer = takeWriter();
  try {
    write(writer, value);
    return writer.at === 0 ? new Uint8Array() : writer.bytes.slice(0, writer.at);
  } finally {
    putBack(writer);
  }
}

/** Writes into scratch and copies to a place that has room, else returns -1. */
export function encodeWithInto<T>(write: Write<T>, value: T, into: Uint8Array, offset: number): number {
  requireLittleEndian();
  checkTarget(into, offset);
  const writer = takeWriter();
  try {
    write(writer, value);
    const size = writer.at;
    if (size > into.length - offset) return -1;
    into.set(writer.bytes.subarray(0, size), offset);
    return size;
  } finally {
    putBack(writer);
  }
}
