// SPDX-License-Identifier: MIT OR Apache-2.0
import { refusal } from "./refusal.js";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// A call into the engine's decoder costs as much as about this many characters in a loop (bench/codec.mjs, Node 20).
const shortMax = 24;

/** The text in some bytes of private memory. Throws `bad-utf8` with the offset of the first byte that cannot stand there. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string {
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
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (cause) {
    throw refusal("bad-utf8", "a text is not UTF-8", validUntil(bytes, start, end), cause);
  }
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
