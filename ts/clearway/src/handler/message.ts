// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { brand } from "../transfer/crossing.js";

/** A handled instance: the object in its place, the name of its handler, and its wire value. */
export type Part = readonly [place: object, name: string, wire: unknown];

/** A value with handled instances, as it crosses. Has the key of a table, so that receiving a plain value costs one check for both. */
export interface HandledMessage {
  readonly [brand]: { readonly handled: 1; readonly root: unknown; readonly parts: readonly Part[] };
}

/** Returns the parts of a message. Throws `protocol` for a message of another form. */
export function partsOf(message: object): { root: unknown; parts: readonly Part[] } {
  const { root, parts } = (message as HandledMessage)[brand];
  if (Array.isArray(parts) && parts.every(isPart)) return { root, parts };
  throw new ClearwayError("protocol", "a value with handled instances has a form that is not known");
}

function isPart(part: unknown): part is Part {
  if (!Array.isArray(part) || part.length !== 3) return false;
  const [place, name] = part;
  return place !== null && typeof place === "object" && typeof name === "string";
}
