// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseReason } from "../channel/transport/transport.js";
import { closeBytesMax, headerBytes, kindAt, kindClose, kindFrame, magic, sizeAt } from "./layout.js";

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
