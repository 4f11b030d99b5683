// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Frame, Op, writeFrame } from "./frame.js";

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
