// SPDX-License-Identifier: MIT OR Apache-2.0
import { refusal } from "./refusal.js";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The engine's decoder takes as long as making one text of so many characters here (15 to 35 ns against 75). A longer text
// would be put together of parts, and V8 joins parts of 13 characters and more only when they are read, which is dear.
const shortMax = 12;
const { fromCharCode } = String;

/** The text in some bytes of private memory. Throws `bad-utf8` with the offset of the first byte that cannot stand there. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= shortMax) {
    const text = readAscii(bytes, start, end);
    if (text !== undefined) return text;
  }
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (cause) {
    throw refusal("bad-utf8", "a text is not UTF-8", validUntil(bytes, start, end), cause);
  }
}

function readAscii(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = "";
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const a = bytes[at]!;
    const b = bytes[at + 1]!;
    const c = bytes[at + 2]!;
    const d = bytes[at + 3]!;
    if ((a | b | c | d) > 0x7f) return undefined;
    text += fromCharCode(a, b, c, d);
  }
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte > 0x7f) return undefined;
    text += fromCharCode(byte);
  }
  return text;
}

/** Where the first ill-formed sequence begins; `end` when there is none. Unicode 16, table 3-7. */
export function validUntil(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const first = bytes[at]!;
    const more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
    if (more < 0 || at + more >= end) return at;
    for (let next = 1; next <= more; next++) {
      const byte = bytes[at + next]!;
      const min = next > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
      const max = next > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
      if (byte < min || byte > max) return at;
    }
    at += more + 1;
  }
  return end;
}

const lone = /\p{Surrogate}/u;

/** Whether a text has halves of surrogate pairs, for which UTF-8 has no bytes. */
export function hasLoneSurrogate(text: string): boolean {
  const { isWellFormed } = text as { isWellFormed?: () => boolean };
  return isWellFormed === undefined ? lone.test(text) : !isWellFormed.call(text);
}
