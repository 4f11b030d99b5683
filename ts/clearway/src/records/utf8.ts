// SPDX-License-Identifier: MIT OR Apache-2.0

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

// The maximum length of a text that a loop handles, in bytes or UTF-16 units. A call of the engine's encoder or decoder costs about as much
// as a loop over 20 characters (measured on Node 20 and Chromium).
const shortMax = 20;

/** Decodes a range of bytes. Invalid UTF-8 becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= shortMax) {
    let text = "";
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte > 0x7f) break;
      text += String.fromCharCode(byte);
    }
    if (at === end) return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}

/** Writes a text as UTF-8 at `start` and returns the position of its end. The caller must provide 3 free bytes per UTF-16 unit. */
export function encodeUtf8(text: string, into: Uint8Array, start: number): number {
  const { length } = text;
  if (length <= shortMax) {
    let at = 0;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code > 0x7f) break;
      into[start + at] = code;
    }
    if (at === length) return start + length;
  }
  return start + encoder.encodeInto(text, into.subarray(start)).written;
}
