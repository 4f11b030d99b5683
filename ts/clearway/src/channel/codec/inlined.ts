// SPDX-License-Identifier: MIT OR Apache-2.0
import { beside } from "./beside.js";
import { input } from "./input.js";
import { readValue } from "./read-value.js";
import { Reader } from "./reader.js";
import { encodeWith } from "./scratch.js";
import { defaultSettings } from "./standard-message.js";
import { writeValue } from "./write-value.js";
import type { Writer } from "./writer.js";

// What is read is written again as it was: floats stay floats, and maps keep their order.
const settings = { ...defaultSettings, lossless: true };

const write = (writer: Writer, values: readonly unknown[]): void => {
  for (const value of values) writeValue(writer, value, 0, settings);
};

/**
 * The bytes of a standard message whose lists came beside it, with the lists in them: for who takes bytes as they are and
 * passes them on. A message, a method's call and its reply are each a row of values (an envelope's byte reads as null or true), so
 * that nobody need know which it is. Copies the message, and an attachment as often as it is named: throws `too-large` when that is
 * more than `bytesMax` together, before any is copied. Throws `malformed` for what no codec without extensions reads.
 */
export function inlined(body: Uint8Array, attached: readonly Uint8Array[], bytesMax: number): Uint8Array {
  beside.attached = attached;
  try {
    const reader = new Reader(input(body, true), settings);
    reader.attachedLeft = bytesMax;
    const values: unknown[] = [];
    while (reader.at < reader.end) values.push(readValue(reader, 0, settings));
    return encodeWith(write, values);
  } finally {
    beside.attached = undefined;
  }
}
