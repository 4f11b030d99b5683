// SPDX-License-Identifier: MIT OR Apache-2.0
import { smallBytes } from "../codec/writer.js";

// A frame (spec/channel.md). Numbers are unsigned and little-endian. Each part after the head begins at a multiple of 8.
//
//    byte  0  +----+-------+------------+----------------+
//             | op | flags | name bytes | id             |
//          8  +----+-------+------------+----------------+
//             | a                       | b              |
//         16  +-------------------------+-------+--------+
//             | body bytes              | count | c      |   count: attachments
//         24  +-------------------------+-------+--------+
//             | the channel's name, UTF-8                |
//             +------------------------------------------+
//             | body: a message of the channel's codec   |
//             +------------------------------------------+
//             | count sizes of 4 bytes | attachments ... |   only with the flag `inside`
//             +------------------------------------------+

export const headBytes = 24;

/** Kinds of frame. The numbers are part of the wire: add new kinds at the end, and never renumber. */
export enum Op {
  /** First frame of each end. a: version; b: wires; id: `helloMagic`; body: see `hello.ts`. */
  hello = 0,
  /** A call. a: deadline, in milliseconds from now; b: timeout, in milliseconds from the handler's start. 0 means no limit. */
  call = 1,
  /** Reply to a call. a: `Status`. */
  reply = 2,
  /** Cancels a call. a: `Status` with the cause, `cancelled` or `timeout`. */
  cancel = 3,
  post = 4,
  /** Starts a stream. a and b: first credit, in items and in bytes; c: capacity of the queue; flags: policy of a full queue. */
  listen = 5,
  /** Event of a stream. a: number of events dropped since the previous event. */
  event = 6,
  /** End of a stream. a: `Status`; b: number of events dropped since the previous event. */
  end = 7,
  /** Credit of a stream. a: items; b: bytes. */
  credit = 8,
  /** Ends a stream, because its listener wants no more events. */
  stop = 9,
  /** Plain wire: a message. The id 0 means that the sender wants no reply. */
  message = 16,
  /** Plain wire: the reply to a message. An empty body means that there is no such method, or no handler. */
  answer = 17,
}

export const Flag = {
  /** The frame contains the attachments' bytes. */
  inside: 1,
  /** The message is one attachment, and there is no body. The binary codec wrote it. */
  whole: 2,
  /** The frame has no message. A null message does not set this flag. */
  empty: 4,
  /** The frame has a value instead of bytes (`channel/transport/transport.ts`). Frames of bytes never have this flag. */
  value: 8,
} as const;

/** A `listen` frame has its policy in the flags from this bit on. */
export const whenFullShift = 4;

/** How a call or a stream ended. */
export enum Status {
  done = 0,
  error = 1,
  notImplemented = 2,
  noHandler = 3,
  dropped = 4,
  cancelled = 5,
  timeout = 6,
  busy = 7,
}

/** A frame that was read. Its parts are views of the received bytes, except attachments that arrived next to the frame. */
export interface Frame {
  op: Op;
  flags: number;
  id: number;
  a: number;
  b: number;
  c: number;
  name: Uint8Array;
  body: Uint8Array;
  attachments: readonly Uint8Array[];
}

/** Parts of a frame to write. A missing part is zero or empty. */
export interface FrameParts extends FrameMessage {
  op: Op;
  id?: number;
  a?: number;
  b?: number;
  c?: number;
  name?: Uint8Array | undefined;
  /** The channel's name as text. Frames with a value have it instead of `name`. */
  channel?: string;
}

/** The message of a frame. Callers pass it separately, because merging both objects into one costs more than writing the head. */
interface FrameMessage {
  flags?: number | undefined;
  body?: Uint8Array | undefined;
  /** Attachments whose bytes are part of the frame. */
  inlineAttachments?: readonly Uint8Array[] | undefined;
  /** Number of attachments that the transport carries next to the frame. */
  separateCount?: number | undefined;
}

const empty = new Uint8Array();
const noAttachments: readonly Uint8Array[] = [];

export function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

// Writes an unsigned number byte by byte. Creating a view for six numbers costs more than writing them.
function put(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

function get(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Writes a frame. A small frame may share a buffer with other frames. */
export function writeFrame(parts: FrameParts, message: FrameMessage = parts): Uint8Array<ArrayBuffer> {
  const { op, id = 0, a = 0, b = 0, c = 0, name = empty } = parts;
  const { flags = 0, body = empty, inlineAttachments = noAttachments, separateCount = 0 } = message;
  const bodyAt = headBytes + padded(name.length);
  const tableAt = inlineAttachments.length > 0 ? bodyAt + padded(body.length) : bodyAt + body.length;
  let bytes = tableAt + (inlineAttachments.length > 0 ? padded(inlineAttachments.length * 4) : 0);
  for (const each of inlineAttachments) bytes += padded(each.length);
  const frame = smallBytes(bytes);
  put(frame, 0, op | ((flags | (inlineAttachments.length > 0 ? Flag.inside : 0)) << 8) | (name.length << 16));
  put(frame, 4, id);
  put(frame, 8, a);
  put(frame, 12, b);
  put(frame, 16, body.length);
  put(frame, 20, (inlineAttachments.length + separateCount) | (c << 16));
  frame.set(name, headBytes);
  frame.set(body, bodyAt);
  if (inlineAttachments.length === 0) return frame;
  let at = tableAt + padded(inlineAttachments.length * 4);
  for (const [index, each] of inlineAttachments.entries()) {
    put(frame, tableAt + index * 4, each.length);
    frame.set(each, at);
    at += padded(each.length);
  }
  return frame;
}

/**
 * Reads a frame without copying: its parts are views. `separate` has the attachments that arrived next to the frame. Returns
 * undefined for bytes that are not a frame.
 */
export function readFrame(bytes: Uint8Array, separate: readonly Uint8Array[]): Frame | undefined {
  if (bytes.length < headBytes) return undefined;
  const first = get(bytes, 0);
  const flags = (first >>> 8) & 0xff;
  const nameBytes = first >>> 16;
  const bodyBytes = get(bytes, 16);
  const last = get(bytes, 20);
  const count = last & 0xffff;
  const bodyAt = headBytes + padded(nameBytes);
  if (bodyAt + bodyBytes > bytes.length) return undefined;
  const inline = (flags & Flag.inside) !== 0;
  if (!inline && (count !== separate.length || bodyAt + bodyBytes !== bytes.length)) return undefined;
  const attachments = inline ? readInline(bytes, bodyAt + padded(bodyBytes), count) : separate;
  if (attachments === undefined) return undefined;
  return {
    op: first & 0xff,
    flags,
    id: get(bytes, 4),
    a: get(bytes, 8),
    b: get(bytes, 12),
    c: last >>> 16,
    name: bytes.subarray(headBytes, headBytes + nameBytes),
    body: bytes.subarray(bodyAt, bodyAt + bodyBytes),
    attachments,
  };
}

function readInline(bytes: Uint8Array, tableAt: number, count: number): Uint8Array[] | undefined {
  let at = tableAt + padded(count * 4);
  if (count === 0 || at > bytes.length) return undefined;
  const found: Uint8Array[] = [];
  for (let index = 0; index < count; index++) {
    const size = get(bytes, tableAt + index * 4);
    if (size > bytes.length - at) return undefined;
    found.push(bytes.subarray(at, at + size));
    at += padded(size);
  }
  return at === bytes.length ? found : undefined;
}

// The first frame of each direction. Its body consists of 4-byte numbers, so an end can read it without a codec. A later version may
// append numbers. This version has:
//
//   0  frames: maximum size of a frame that this end accepts, in bytes
//   4  names: maximum length of a channel name that this end accepts, in bytes
//   8  calls: number of calls that this end runs at once

/** The text "CWCH", as a little-endian number. */
export const helloMagic = 0x4843_5743;
export const wireVersion = 1;
/**
 * Smallest frame limit that an end may announce, in bytes. A frame of this size has room for the end of a call or of a stream,
 * with the beginning of an error's message.
 */
export const frameBytesMin = 1024;

/** The wires: `clearway` is Clearway's own, `plain` has the messages of Flutter's platform channels. */
export type WireName = "clearway" | "plain";

/** Limits and wires that an end announces. */
export interface Hello {
  version: number;
  wires: readonly WireName[];
  frameBytesMax: number;
  nameBytesMax: number;
  callsMax: number;
}

const bits: Readonly<Record<WireName, number>> = { clearway: 1, plain: 2 };
const known: readonly WireName[] = ["clearway", "plain"];

export function writeHello({ wires, frameBytesMax, nameBytesMax, callsMax }: Hello): Uint8Array {
  const body = new Uint8Array(new Uint32Array([frameBytesMax, nameBytesMax, callsMax]).buffer);
  const mask = wires.reduce((sum, each) => sum | bits[each], 0);
  return writeFrame({ op: Op.hello, id: helloMagic, a: wireVersion, b: mask, body });
}

/** Reads a hello. Returns undefined for any other frame. */
export function readHello({ op, id, a, b, body }: Frame): Hello | undefined {
  if (op !== Op.hello || id !== helloMagic || body.length < 12) return undefined;
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  return {
    version: a,
    wires: known.filter((each) => (b & bits[each]) !== 0),
    frameBytesMax: view.getUint32(0, true),
    nameBytesMax: view.getUint32(4, true),
    callsMax: view.getUint32(8, true),
  };
}

/** Returns the wire that both ends support. Clearway's own wire comes first. Returns undefined if they have no wire in common. */
export function agree(here: readonly WireName[], there: readonly WireName[]): WireName | undefined {
  return known.find((each) => here.includes(each) && there.includes(each));
}
