// SPDX-License-Identifier: MIT OR Apache-2.0
import { isShared } from "../transport/transport.js";
import {
  type AttachmentSink,
  checkTarget,
  codecError,
  memoryMovedError,
  outOfBand,
  requireLittleEndian,
} from "./codec.js";
import { sizes } from "./tags.js";
import { hasLoneSurrogate } from "./text.js";

// Initial size of the scratch buffer, in bytes; enough for most messages. `keptBytesMax` is the size of the largest scratch
// buffer that is kept for the next message, in bytes.
const scratchBytes = 4096;
const keptBytesMax = 1 << 20;

const encoder = new TextEncoder();
// Maximum number of characters of a text whose size surely takes one byte. Such a text has at most 3 bytes per character, or
// 252.
const shortMax = 84;
// Up to this number of characters, a loop is faster than a call of the engine's encoder (ts/clearway/bench/codec, Node 20).
const loopMax = 48;
// Maximum number of characters of a text that is encoded into the scratch buffer.
const scratchTextLengthMax = 1 << 16;
// A list of at least this size, in bytes, skips the scratch buffer: it is copied once, into the message. Measured times of
// `encodeInto` for a method call in Node 20, through scratch and directly: 0.21 and 0.28 us with a list of 4 KiB, 0.37 and 0.38
// us with 16 KiB, 1.41 and 1.04 us with 64 KiB.
const longListBytesMin = 1 << 14;
// Computed once. The quotient is too large for V8's small integers, so each division would allocate a heap number.
const textMax = Math.floor(sizes.fourMax / 3);

/** A long list or text, which is copied once, straight into the message. */
interface LongPart {
  readonly at: number;
  bytes: Uint8Array;
  readonly length: number;
}

/** Writes the primitives of a message into a growing scratch buffer. The functions in `write-value.ts` write whole values. */
export class Writer {
  bytes = new Uint8Array(scratchBytes);
  view = new DataView(this.bytes.buffer);
  /** The position of the next byte in `bytes`. */
  at = 0;
  /**
   * Long parts of the message, which are not in `bytes`. The `at` of a part is the position in `bytes` where the part belongs.
   */
  longParts: LongPart[] = [];
  longBytes = 0;
  /** Lists of at least this size go to `longParts`, in bytes. */
  longListBytesMin = longListBytesMin;
  /** Takes large lists as attachments. If undefined, all lists stay in the message. */
  sink: AttachmentSink | undefined;
  /** Whether the message may share a buffer with others. */
  mayShareBuffer = false;
  /** Maximum size of the message, in bytes. A list that occurs many times in a value makes a message that is far larger than the value. */
  bytesMax = Number.POSITIVE_INFINITY;

  /** Number of bytes of the message so far, including the long parts. */
  get offset(): number {
    return this.at + this.longBytes;
  }

  /** Makes room for `more` bytes in the scratch buffer. Throws `too-large` beyond `bytesMax`, or if there is no memory. */
  room(more: number): void {
    const needed = this.at + more;
    if (needed > this.bytes.length) this.#grow(needed);
  }

  #grow(needed: number): void {
    this.#checkSize(needed + this.longBytes);
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      const more = Math.min(this.bytes.length * 2, this.bytes.length + (1 << 28), this.bytesMax);
      bytes = new Uint8Array(Math.max(needed, more));
    } catch (cause) {
      throw codecError("too-large", `no memory for a message of ${needed} bytes or more`, this.offset, cause);
    }
    bytes.set(this.bytes.subarray(0, this.at));
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  byte(value: number): void {
    this.room(1);
    this.bytes[this.at++] = value;
  }

  /** Writes a size or a count in 1, 3 or 5 bytes. Throws `too-large` for a number over 32 bits. */
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
      throw codecError("too-large", `a size is over what 4 bytes can say: ${value}`, this.offset);
    }
  }

  /**
   * Writes the number of values that follow. Throws `too-large` if they are more than a new scratch buffer has bytes, and have no room in
   * the message even at one byte each: a list of holes is as long as it says.
   */
  count(values: number): void {
    if (values > scratchBytes) this.#checkSize(this.offset + values);
    this.size(values);
  }

  /** Writes zeros up to a multiple of `alignment`, counted from the message's first byte. `alignment` is a power of two. */
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

  /** Writes padding and a float64. */
  float64(value: number): void {
    this.room(16);
    this.pad(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** Writes a list's bytes. A long list is read only after the whole value was written. */
  list(view: ArrayBufferView): void {
    const { buffer, byteOffset, byteLength } = view;
    if (byteLength >= this.longListBytesMin) return this.#addLongPart(new Uint8Array(buffer, byteOffset, byteLength));
    // Short lists go through the scratch buffer. For a `Uint8Array`, creating a new view would cost as much as the copy.
    this.raw(view instanceof Uint8Array ? view : new Uint8Array(buffer, byteOffset, byteLength));
  }

  #addLongPart(bytes: Uint8Array): void {
    this.longParts.push({ at: this.at, bytes, length: bytes.length });
    this.longBytes += bytes.length;
    this.#checkSize(this.offset);
  }

  #checkSize(bytes: number): void {
    if (bytes > this.bytesMax) throw codecError("too-large", `a message over ${this.bytesMax} bytes`, this.offset);
  }

  /** Copies bytes into the scratch buffer. */
  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /**
   * Writes a text's size in bytes, then the text in UTF-8. Throws `not-encodable` for half of a surrogate pair, and `too-large`
   * for a text of more than `textMax` characters.
   */
  text(text: string): void {
    const { length } = text;
    if (length > textMax) throw codecError("too-large", `a text of ${length} characters`, this.offset);
    if (length > scratchTextLengthMax) return this.#longText(text);
    this.room(length * 3 + 5);
    if (length <= loopMax && this.#ascii(text)) return;
    if (hasLoneSurrogate(text)) throw codecError("not-encodable", "a text has half of a surrogate pair", this.offset);
    const start = this.at;
    // The size precedes the bytes, but is known only after they are encoded. `guess` is the expected width of the size. It is
    // right for ASCII texts and for short texts.
    const guess = length <= shortMax ? 1 : sizeBytes(length);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(start + guess));
    this.size(written);
    const begin = this.at;
    if (begin !== start + guess) {
      // The guess was wrong, and `size` overwrote the first bytes. Encode the text again. This happens only to non-ASCII texts
      // whose number of bytes needs a wider size than their number of characters.
      encoder.encodeInto(text, this.bytes.subarray(begin));
    }
    this.at = begin + written;
  }

  // Writes a long text. Reserving 3 bytes per character for such a text would triple the scratch buffer.
  #longText(text: string): void {
    if (hasLoneSurrogate(text)) throw codecError("not-encodable", "a text has half of a surrogate pair", this.offset);
    const bytes = encoder.encode(text);
    this.size(bytes.length);
    this.#addLongPart(bytes);
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

// One idle writer serves every message of the thread. A message that is encoded inside another one, by an extension or a
// getter, gets a new writer.
let idleWriter: Writer | undefined;

/** Returns the idle writer, reset, or a new writer. The caller must return it with `putBack`. */
function takeWriter(): Writer {
  const writer = idleWriter ?? new Writer();
  idleWriter = undefined;
  writer.at = 0;
  writer.longListBytesMin = longListBytesMin;
  writer.sink = outOfBand.sink;
  outOfBand.sink = undefined;
  writer.mayShareBuffer = outOfBand.mayShareBuffer;
  outOfBand.mayShareBuffer = false;
  writer.bytesMax = outOfBand.bytesMax ?? Number.POSITIVE_INFINITY;
  outOfBand.bytesMax = undefined;
  return writer;
}

/**
 * Takes a writer back after its use. Keeps the writer for the next message, unless its scratch buffer is larger than
 * `keptBytesMax`.
 */
export function putBack(writer: Writer): void {
  if (writer.longBytes > 0) {
    writer.longParts = [];
    writer.longBytes = 0;
  }
  if (writer.bytes.length <= keptBytesMax) idleWriter = writer;
}

// In Node 20 a new ArrayBuffer costs as much as encoding a small message (0.5 us, plus garbage collection), and each call
// needed four of them. Small messages that are sent or copied at once therefore share a buffer, the slab. Code that keeps one
// message keeps the whole slab alive. The slab is as large as Node's own pool for `Buffer` objects.
const slabBytes = 8192;
const partBytesMax = 1024;

let slab: Uint8Array<ArrayBuffer> | undefined;
let used = 0;

/**
 * Returns zeroed bytes. They may be part of a larger buffer, at an offset that is a multiple of 8. No other caller gets the
 * same bytes.
 */
export function smallBytes(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > partBytesMax) return new Uint8Array(bytes);
  if (slab === undefined || used + bytes > slabBytes) {
    slab = new Uint8Array(slabBytes);
    used = 0;
  }
  const at = used;
  used = (at + bytes + 7) & ~7;
  return slab.subarray(at, at + bytes);
}

type Write<T> = (writer: Writer, value: T) => void;

/** Encodes a value into a new message of its exact size. Throws the same errors as `Codec.encode`. */
export function encodeWith<T>(write: Write<T>, value: T): Uint8Array {
  requireLittleEndian();
  const writer = takeWriter();
  try {
    write(writer, value);
    if (writer.offset === 0) return new Uint8Array();
    if (writer.longBytes === 0) return writer.mayShareBuffer ? copyToSlab(writer) : writer.bytes.slice(0, writer.at);
    const message = memory(writer.offset);
    copyOut(writer, message, 0);
    return message;
  } finally {
    putBack(writer);
  }
}

/** Copies a small message out of the scratch buffer, into the slab if it fits there. */
function copyToSlab({ bytes, at }: Writer): Uint8Array {
  const message = smallBytes(at);
  message.set(bytes.subarray(0, at));
  return message;
}

/**
 * Encodes a value into `into`. Returns the message's length in bytes, or -1 if the message does not fit. Throws the same errors
 * as `Codec.encode`.
 */
export function encodeWithInto<T>(write: Write<T>, value: T, into: Uint8Array, offset: number): number {
  requireLittleEndian();
  checkTarget(into, offset);
  const writer = takeWriter();
  try {
    write(writer, value);
    const size = writer.offset;
    if (size > into.length - offset) return -1;
    if (writer.longBytes === 0) into.set(writer.bytes.subarray(0, size), offset);
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
    throw codecError("too-large", `no memory for a message of ${bytes} bytes`, bytes, cause);
  }
}

// Joins the scratch buffer and the long parts. If it throws, `into` is unchanged.
function copyOut({ bytes, at, longParts }: Writer, into: Uint8Array, offset: number): void {
  for (const each of longParts) {
    // A getter or an extension may have transferred the memory after the part was added.
    if (each.bytes.length !== each.length) throw memoryMovedError();
    // The copy must not overwrite a part that is still to be read. Two `SharedArrayBuffer` objects may have the same memory.
    const same = each.bytes.buffer === into.buffer || (isShared(each.bytes.buffer) && isShared(into.buffer));
    if (same) each.bytes = new Uint8Array(each.bytes);
  }
  let from = 0;
  let to = offset;
  for (const each of longParts) {
    into.set(bytes.subarray(from, each.at), to);
    to += each.at - from;
    into.set(each.bytes, to);
    to += each.length;
    from = each.at;
  }
  into.set(bytes.subarray(from, at), to);
}
