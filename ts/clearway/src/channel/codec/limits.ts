// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";

/** What a codec refuses for its size, before it allocates anything for it. */
export interface CodecLimits {
  /**
   * How many lists, maps and extension values may stand inside one another, reading and writing: 0 to 1000, default 128.
   * The default is that of other parsers of untrusted text. At 1000 the stack is about a tenth used (Node and Chromium).
   */
  readonly depthMax: number;
  /**
   * How many values the lists and maps of one message may announce together when it is read; default 16,777,216. A value
   * takes one byte of the message and up to about 60 of memory, so this bounds what a message can make the reader allocate.
   */
  readonly itemsMax: number;
}

export const defaultLimits: CodecLimits = { depthMax: 128, itemsMax: 1 << 24 };

/** Hex digits of a big integer, reading and writing. Turning them into decimals takes time that grows with their square. */
export const bigIntegerDigitsMax = 1 << 20;

/** The given limits, checked, and the default for the rest. Throws `invalid-argument`. */
export function checkLimits(given: Partial<CodecLimits>, before: CodecLimits): CodecLimits {
  const { depthMax = before.depthMax, itemsMax = before.itemsMax } = given;
  if (!(Number.isInteger(depthMax) && depthMax >= 0 && depthMax <= 1000))
    throw invalid("depthMax", "a whole number from 0 to 1000", depthMax);
  if (!(Number.isInteger(itemsMax) && itemsMax >= 0 && itemsMax <= 0xffff_ffff))
    throw invalid("itemsMax", "a whole number from 0 to 4294967295", itemsMax);
  return { depthMax, itemsMax };
}
