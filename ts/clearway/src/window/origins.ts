// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../error/clearway-error.js";

/** The origin of a sandboxed frame, a `data:` URL or a file, as browsers report it. */
export const opaque = "null";

/** The origins that may be at the other end. Undefined: any origin. */
export type Origins = readonly string[] | undefined;

/** Returns the origins of the options. Throws `invalid-argument`. */
export function originsOf(origin: unknown, anyOrigin: unknown): Origins {
  if (anyOrigin !== undefined && typeof anyOrigin !== "boolean")
    throw invalid("dangerouslyAnyOrigin", "true or false", anyOrigin);
  if (anyOrigin) {
    if (origin === undefined) return undefined;
    throw invalid("origin", "left out with dangerouslyAnyOrigin", origin);
  }
  const origins: unknown[] = Array.isArray(origin) ? [...origin] : [origin];
  if (origins.length === 0) throw invalid("origin", "at least one origin", origin);
  return origins.map(checked);
}

function checked(origin: unknown): string {
  if (origin === "*")
    throw invalid("origin", "a list of origins (dangerouslyAnyOrigin: true accepts every page of the window)", origin);
  if (origin === opaque) return opaque;
  const own = typeof origin === "string" ? originOf(origin) : undefined;
  if (own === origin && own !== undefined) return own;
  const nearest = own === undefined ? 'an origin such as "https://example.com"' : `an origin alone, here "${own}"`;
  throw invalid("origin", nearest, origin);
}

// Returns the origin of a URL. Returns undefined if the URL has no host. `URL.origin` is not enough, because it is "null" for schemes
// of extensions and apps in some browsers.
function originOf(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  return parsed.host ? `${parsed.protocol}//${parsed.host}` : undefined;
}

/** Returns the target for a message to a window of this origin. Only "*" reaches a window whose origin is opaque. */
export function targetOf(origin: string): string {
  return origin === opaque ? "*" : origin;
}
