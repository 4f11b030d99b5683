// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Aside, beside } from "./beside.js";
import { refusal } from "./refusal.js";
import { sizes } from "./tags.js";
import { hasLoneSurrogate } from "./utf8.js";

// Half of what is written is less than this; larger scratch than the second is not kept (a message of 1 MiB without its long
// lists is rare).
const scratchBytes = 4096;
const keptBytesMax = 1 << 20;

const encoder = new TextEncoder();
// A text of so many characters has a size of one byte whatever they are: 3 bytes each, 253 at most.
const shortMax = 84;
// A call into the engine's encoder costs as much as about this many characters in a loop (bench/codec.mjs, Node 20).
const loopMax = 48;
const longMin = 1 << 16;
// A list from here on is not copied into scratch, but once, to where the message goes. Writing a method's call with a list in
// place, in Node 20: of 4 KiB 0.21 us through scratch and 0.28 so, of 16 KiB 0.37 and 0.38, of 64 KiB 1.41 and 1.04.
const lateMin = 1 << 14;
// Divided once: the quotient is no small integer, and each division would make an object of it.
const textMax = Math.floor(sizes.fourMax / 3);

/** A part that is copied once, to where the message goes. */
interface Late {
  readonly at: number;
  bytes: Uint8Array;
  readonly length: number;
}

/** Scratch that grows, and the parts that messages are made of. Values are `write-value.ts`. */
export class Writer {
  bytes = new Uint8Array(scratchBytes);
  view = new DataView(this.bytes.buffer);
  /** Where the next byte goes in `bytes`. */
  at = 0;
  /** Long parts that are not in `bytes`; `at` says before which byte of it they stand. */
  late: Late[] = [];
  lateBytes = 0;
  /** Lists of so many bytes are late. */
  lateMin = lateMin;
  /** Where large lists go instead of into the message. */
  aside: Aside | undefined;
  /** Whether the message may stand in one buffer with others. */
  passing = false;

  /** How many bytes the message has so far. */
  get offset(): number {
    return this.at + this.lateBytes;
  }

  /** Makes room for some bytes more. */
  room(more: number): void {
    const needed = this.at + more;
    if (needed > this.bytes.length) this.#grow(needed);
  }

  #grow(needed: number): void {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = new Uint8Array(Math.max(needed, Math.min(this.bytes.length * 2, this.bytes.length + (1 << 28))));
    } catch (cause) {
      throw refusal("too-large", `no memory for a message of ${needed} bytes or more`, this.offset, cause);
    }
    bytes.set(this.bytes.subarray(0, this.at));
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  byte(value: number): void {
    this.room(1);
    this.bytes[this.at++] = value;
  }

  /** A size or a count. */
  size(value: number): void {
    this.room(5);
    const { bytes, at } = this;
    if (value <= sizes.oneMax) {
      bytes[at] = value;
      this.at = at + 1;
    } else if (value <= sizes.twoMax) {
      bytes[at] = sizes.two;
      this.view.setUint16(at + 1, value, true);
      this.at = at + 3;
    } else if (value <= sizes.fourMax) {
      bytes[at] = sizes.four;
      this.view.setUint32(at + 1, value, true);
      this.at = at + 5;
    } else {
      throw refusal("too-large", `a size is over what 4 bytes can say: ${value}`, this.offset);
    }
  }

  /** Zeros up to a multiple of `alignment`, a power of two, counted from the message's first byte. */
  pad(alignment: number): void {
    this.room(alignment);
    const { bytes } = this;
    const over = this.offset & (alignment - 1);
    const end = over === 0 ? this.at : this.at + alignment - over;
    for (let at = this.at; at < end; at++) bytes[at] = 0;
    this.at = end;
  }

  int32(value: number): void {
    this.room(4);
    this.view.setInt32(this.at, value, true);
    this.at += 4;
  }

  uint32(value: number): void {
    this.room(4);
    this.view.setUint32(this.at, value, true);
    this.at += 4;
  }

  int64(value: bigint): void {
    this.room(8);
    this.view.setBigInt64(this.at, value, true);
    this.at += 8;
  }

  /** Padding and a float64. */
  float64(value: number): void {
    this.room(16);
    this.pad(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** A list's bytes. A long one is read when all has been written. */
  list(view: ArrayBufferView): void {
    const { buffer, byteOffset, byteLength } = view;
    if (byteLength >= this.lateMin) return this.#later(new Uint8Array(buffer, byteOffset, byteLength));
    // A view costs as much as copying so few bytes.
    this.raw(view instanceof Uint8Array ? view : new Uint8Array(buffer, byteOffset, byteLength));
  }

  #later(bytes: Uint8Array): void {
    this.late.push({ at: this.at, bytes, length: bytes.length });
    this.lateBytes += bytes.length;
  }

  /** Bytes as they are, copied at once. */
  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** A text's size and its UTF-8. Throws `not-encodable` for half of a surrogate pair. */
  text(text: string): void {
    const { length } = text;
    if (length > textMax) throw refusal("too-large", `a text of ${length} characters`, this.offset);
    if (length > longMin) return this.#long(text);
    this.room(length * 3 + 5);
    if (length <= loopMax && this.#ascii(text)) return;
    if (hasLoneSurrogate(text)) throw refusal("not-encodable", "a text has half of a surrogate pair", this.offset);
    const start = this.at;
    // The size stands before the bytes; a guess is right for ASCII and for short texts, else the bytes are shifted.
    const guess = length <= shortMax ? 1 : sizeBytes(length);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(start + guess));
    this.size(written);
    const begin = this.at;
    if (begin !== start + guess) {
      // `size` wrote over the first bytes: write the text again behind it. Happens at most around 254 and 65536 bytes.
      encoder.encodeInto(text, this.bytes.subarray(begin));
    }
    this.at = begin + written;
  }

  // Room for 3 bytes a character of a long text would triple the scratch for nothing.
  #long(text: string): void {
    if (hasLoneSurrogate(text)) throw refusal("not-encodable", "a text has half of a surrogate pair", this.offset);
    const bytes = encoder.encode(text);
    this.size(bytes.length);
    this.#later(bytes);
  }

  #ascii(text: string): boolean {
    const { bytes } = this;
    const { length } = text;
    const begin = this.at + 1;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      bytes[begin + index] = code;
    }
    bytes[begin - 1] = length;
    this.at = begin + length;
    return true;
  }
}

function sizeBytes(size: number): number {
  return size <= sizes.oneMax ? 1 : size <= sizes.twoMax ? 3 : 5;
}

// One writer at rest serves every message of the thread; a message that is written while another is (by an extension, or
// by a getter) gets one of its own.
let rest: Writer | undefined;

/** A writer at its first byte, the caller's until it is put back. */
export function takeWriter(): Writer {
  const writer = rest ?? new Writer();
  rest = undefined;
  writer.at = 0;
  writer.lateMin = lateMin;
  writer.aside = beside.aside;
  beside.aside = undefined;
  writer.passing = beside.passing;
  beside.passing = false;
  return writer;
}

/** Keeps the writer's scratch for the next message, unless it has grown large. */
export function putBack(writer: Writer): void {
  if (writer.lateBytes > 0) {
    writer.late = [];
    writer.lateBytes = 0;
  }
  if (writer.bytes.length <= keptBytesMax) rest = writer;
}
