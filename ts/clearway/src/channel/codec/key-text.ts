// SPDX-License-Identifier: MIT OR Apache-2.0
import { readUtf8 } from "./utf8.js";

// Maps of one kind have the same keys message after message. A key that was seen is found by its bytes: that saves making
// the text, and looking it up in the engine's table of property names. The table is small and each key short, so that a
// peer's keys cannot fill the memory: 512 keys of 32 characters are 32 KiB at most.
const slots = 512;
const bytesMax = 32;
const seen: string[] = new Array<string>(slots).fill("");
const seenBytes = new Uint8Array(slots * bytesMax);

/** The text of a map's key, the same as `readUtf8` gives. */
export function keyText(bytes: Uint8Array, start: number, end: number): string {
  const size = end - start;
  if (size === 0 || size > bytesMax) return readUtf8(bytes, start, end);
  const slot = (size * 67 + bytes[start]! * 31 + bytes[end - 1]! * 17 + bytes[start + (size >> 1)]! * 7) & (slots - 1);
  const key = seen[slot]!;
  const place = slot * bytesMax;
  if (key.length === size) {
    let index = 0;
    while (index < size && seenBytes[place + index] === bytes[start + index]) index++;
    if (index === size) return key;
  }
  const text = readUtf8(bytes, start, end);
  // Only ASCII is kept: it has as many characters as bytes.
  if (text.length === size) {
    seen[slot] = text;
    seenBytes.set(bytes.subarray(start, end), place);
  }
  return text;
}
