// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CloseReason, readReason } from "../channel/transport/transport.js";

// Layout of a frame on a stream of bytes (spec/stdio.md). spec/vectors/stdio.json has tests for all languages.
//
//   byte  0     1     2     3     4           8                    8 + size
//         +-----+-----+-----+-----+-----------+--------------------+
//         | 43  | 57  | 01  |kind | size, u32 | body               |
//         | "C" | "W" |     |     | little    |                    |
//         +-----+-----+-----+-----+-----------+--------------------+
//
// Each frame begins with the magic bytes: the letters "CW" and the version as a byte. No line of text begins with these three bytes, so the
// reader recognizes a stray line at its first wrong byte.

/** Size of a frame's header, in bytes. The body follows. */
export const headerBytes = 8;
/** First bytes of each frame: the letters "CW" and the version. */
export const magic: readonly number[] = [0x43, 0x57, 0x01];
const kindAt = 3;
export const sizeAt = 4;

/** The body is a frame of the channel. */
export const kindFrame = 0;
/** The body is the close reason, as JSON. No frame follows. */
export const kindClose = 1;

/**
 * Maximum size of a close reason, in bytes. The reason is a description for developers. A longer reason closes the transport
 * with `too-large`.
 */
export const closeBytesMax = 8192;

/** Receives the frames and the end that a {@link FrameReader} finds. */
interface FrameSink {
  frame(frame: Uint8Array): void;
  /** Called at the other end's close frame, or at a protocol error. No call follows. */
  end(reason: CloseReason): void;
}

// Maximum length of an excerpt of a stray line, in bytes. It is enough to recognize the program that printed the line.
const excerptBytesMax = 80;

/**
 * Splits a stream of bytes into frames. The pieces may have any size. Does no I/O. A body that takes at least half of its piece is a view
 * of the piece. Any other body is copied once, into memory of its exact size. Checks the size before it allocates that memory.
 */
export class FrameReader {
  readonly #frameBytesMax: number;
  readonly #sink: FrameSink;
  readonly #header = new Uint8Array(headerBytes);
  #headerFilled = 0;
  /** The body that is being read. Undefined while a header is read. */
  #body: Uint8Array | undefined;
  #bodyFilled = 0;
  #kind = kindFrame;
  #ended = false;
  /** Number of bytes in the stream before the current frame. */
  #offset = 0;

  constructor(frameBytesMax: number, sink: FrameSink) {
    this.#frameBytesMax = frameBytesMax;
    this.#sink = sink;
  }

  /** Whether the stream is inside a frame. If the stream ends there, data is lost. */
  get inside(): boolean {
    return this.#headerFilled > 0;
  }

  /** Reads the next piece. Takes its memory: a frame may be a view of it. */
  push(piece: Uint8Array): void {
    let at = 0;
    if (this.#headerFilled === 0) at = this.#readWhole(piece);
    while (!this.#ended && at < piece.length) {
      at = this.#body === undefined ? this.#readHeader(piece, at) : this.#readBody(piece, at, this.#body);
    }
  }

  // Reads a piece that is one frame, as most pieces are if the ends wait for each other. Returns 0 if it is not. The frame then needs no
  // memory of its own, and keeps no other bytes alive.
  #readWhole(piece: Uint8Array): number {
    const size = piece.length - headerBytes;
    if (size <= 0 || size > this.#frameBytesMax || piece.buffer.byteLength > 2 * size) return 0;
    for (let at = 0; at < magic.length; at++) if (piece[at] !== magic[at]) return 0;
    if (piece[kindAt] !== kindFrame || piece.byteOffset % 8 !== 0) return 0;
    const announced = new DataView(piece.buffer, piece.byteOffset).getUint32(sizeAt, true);
    if (announced !== size) return 0;
    this.#offset += piece.length;
    // Not `subarray`, which would give a `Buffer` of Node.
    this.#sink.frame(new Uint8Array(piece.buffer, piece.byteOffset + headerBytes, size));
    return piece.length;
  }

  #readHeader(piece: Uint8Array, from: number): number {
    const taken = Math.min(headerBytes - this.#headerFilled, piece.length - from);
    for (let at = 0; at < taken; at++) {
      const place = this.#headerFilled + at;
      const byte = piece[from + at] as number;
      if (place < magic.length && byte !== magic[place]) {
        this.#stray(piece, from + at, place);
        return piece.length;
      }
      this.#header[place] = byte;
    }
    this.#headerFilled += taken;
    if (this.#headerFilled === headerBytes) this.#begin();
    return from + taken;
  }

  #begin(): void {
    const size = new DataView(this.#header.buffer).getUint32(sizeAt, true);
    this.#kind = this.#header[kindAt] as number;
    if (this.#kind !== kindFrame && this.#kind !== kindClose)
      return this.#end({
        code: "protocol",
        message: `a frame of the unknown kind ${this.#kind}, at byte ${this.#offset}`,
      });
    const bytesMax = this.#kind === kindFrame ? this.#frameBytesMax : closeBytesMax;
    if (size > bytesMax)
      return this.#end({
        code: "too-large",
        message: `a frame of ${size} bytes; the transport takes ${bytesMax} at most`,
      });
    this.#body = new Uint8Array(size);
    this.#bodyFilled = 0;
    if (size === 0) this.#complete(this.#body);
  }

  #readBody(piece: Uint8Array, from: number, body: Uint8Array): number {
    const to = Math.min(piece.length, from + body.length - this.#bodyFilled);
    body.set(from === 0 && to === piece.length ? piece : piece.subarray(from, to), this.#bodyFilled);
    this.#bodyFilled += to - from;
    if (this.#bodyFilled === body.length) this.#complete(body);
    return to;
  }

  #complete(body: Uint8Array): void {
    this.#body = undefined;
    this.#headerFilled = 0;
    this.#offset += headerBytes + body.length;
    if (this.#kind === kindFrame) this.#sink.frame(body);
    else this.#end(readClose(body));
  }

  // Reports bytes that are not a frame. They are usually a line that the other end, or a library there, printed to its standard output.
  #stray(piece: Uint8Array, at: number, place: number): void {
    const begun = this.#header.subarray(0, place);
    const rest = piece.subarray(at, at + excerptBytesMax);
    const text = new TextDecoder().decode(new Uint8Array([...begun, ...rest]));
    this.#end({
      code: "protocol",
      message: `something that is no frame, at byte ${this.#offset}: ${JSON.stringify(text)}; does the other end print to its standard output?`,
      detail: { offset: this.#offset },
    });
  }

  #end(reason: CloseReason): void {
    this.#ended = true;
    this.#sink.end(reason);
  }
}

function readClose(body: Uint8Array): CloseReason {
  try {
    return readReason(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)));
  } catch (cause) {
    return { code: "protocol", message: "the close frame has no valid JSON", cause };
  }
}

/** Returns the header of a frame whose body has `size` bytes. Allocates the header. */
export function frameHeader(size: number, kind = kindFrame): Uint8Array {
  const header = new Uint8Array(headerBytes);
  writeHeader(header, 0, size, kind);
  return header;
}

// Frames up to this size are copied next to each other, which takes less time than another piece of a write.
const joinedBytesMax = 4096;

/** Returns what to write for frames, with their headers. Joins small frames. Does not copy larger ones. */
export function joinFrames(frames: readonly Uint8Array[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let from = 0; from < frames.length; ) {
    // A run of small frames, and the header of the larger frame that follows it.
    let to = from;
    let bytes = 0;
    for (; to < frames.length; to++) {
      bytes += headerBytes;
      if (sizeOf(frames, to) > joinedBytesMax) break;
      bytes += sizeOf(frames, to);
    }
    const run = new Uint8Array(bytes);
    let at = 0;
    for (; from < to; from++) {
      at = writeHeader(run, at, sizeOf(frames, from), kindFrame);
      run.set(frames[from] as Uint8Array, at);
      at += sizeOf(frames, from);
    }
    chunks.push(run);
    const large = frames[from++];
    if (large === undefined) break;
    writeHeader(run, at, large.byteLength, kindFrame);
    chunks.push(large);
  }
  return chunks;
}

function sizeOf(frames: readonly Uint8Array[], index: number): number {
  return (frames[index] as Uint8Array).byteLength;
}

function writeHeader(into: Uint8Array, at: number, size: number, kind: number): number {
  into.set(magic, at);
  into[at + kindAt] = kind;
  for (let byte = 0; byte < 4; byte++) into[at + sizeAt + byte] = size >>> (8 * byte);
  return at + headerBytes;
}

/** Returns a close frame, with header and body. The reason's `cause` stays at this end. */
export function closeFrame({ code, message, detail }: CloseReason): Uint8Array {
  const text = (parts: object): Uint8Array => new TextEncoder().encode(JSON.stringify(parts));
  let body = text({ code, message, detail });
  // The message may quote a long error of other code. If the body is too large, it keeps only the code and the start of the message.
  if (body.length > closeBytesMax) body = text({ code, message: message.slice(0, 1000) });
  const frame = new Uint8Array(headerBytes + body.length);
  frame.set(frameHeader(body.length, kindClose));
  frame.set(body, headerBytes);
  return frame;
}
