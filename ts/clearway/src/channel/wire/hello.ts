// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Frame, Op, writeFrame } from "./frame.js";

// The first frame of each direction. Its body is numbers of 4 bytes, so that an end needs no codec to read it. Later versions add
// numbers behind them:
//
//   0  frames: the largest that this end accepts, in bytes
//   4  names: the longest that this end accepts, in bytes
//   8  calls: how many this end runs at once

/** "CWCH", as bytes in memory. */
export const helloMagic = 0x4843_5743;
export const wireVersion = 1;
/** Smallest frame limit that an end may announce. The end of a call or stream, with an error's first words, fits into such a frame. */
export const frameBytesMin = 1024;

/** The wires: Clearway's own, and the plain one of platform channels. */
export type WireName = "clearway" | "plain";

/** What an end announces about itself. */
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

/** Returns the wire that both ends speak, Clearway's first; undefined when there is none. */
export function agree(here: readonly WireName[], there: readonly WireName[]): WireName | undefined {
  return known.find((each) => here.includes(each) && there.includes(each));
}
