// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";

/** A handled instance: the object in its place, the name of its handler, and its wire value. */
export type Part = readonly [place: object, name: string, wire: unknown];

/** The content of a value with handled instances, as it crosses. */
export interface HandledContent {
  /** The value, with an empty object in place of each handled instance. */
  readonly root: unknown;
  /** The handled instances. An instance comes after those in its own wire value. */
  readonly parts: readonly Part[];
}

/** Returns a content that has arrived. Throws `protocol` for a content of another form. */
export function contentOf(arrived: unknown): HandledContent {
  const { root, parts } = (arrived ?? {}) as Partial<HandledContent>;
  if (Array.isArray(parts) && parts.every(isPart)) return { root, parts };
  throw new ClearwayError("protocol", "a value with handled instances has a form that is not known");
}

function isPart(part: unknown): part is Part {
  if (!Array.isArray(part) || part.length !== 3) return false;
  const [place, name] = part;
  return place !== null && typeof place === "object" && typeof name === "string";
}
