// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseReason } from "../channel/transport/transport.js";
import { closeBytesMax, headerBytes, kindAt, kindClose, kindFrame, magic, sizeAt } from "./layout.js";

/** Returns the header of a frame whose body has `size` bytes. Allocates the header. */
export function frameHeader(size: number, kind = kindFrame): Uint8Array {
  const header = new Uint8Array(headerBytes);
  header.set(magic);
  header[kindAt] = kind;
  new DataView(header.buffer).setUint32(sizeAt, size, true);
  return header;
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
