// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkDepth, jsonRefusal } from "./json-check.js";
import type { CodecLimits } from "./limits.js";
import { refusal } from "./refusal.js";
import { readUtf8 } from "./utf8.js";

const encoder = new TextEncoder();

// Half of a surrogate pair perhaps: only then is the text looked at more closely. JSON.stringify writes such a half so, too.
const escapedSurrogate = /\\u[dD][89a-fA-F]/;

/** JSON of a value, as bytes. Throws `not-encodable` and `too-deep`. */
export function toJson(value: unknown, { depthMax }: CodecLimits): Uint8Array {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof RangeError) throw refusal("too-deep", `values are nested deeper than ${depthMax}`, 0, cause);
    throw refusal("not-encodable", "JSON has no form for the value", 0, cause);
  }
  if (text === undefined) throw refusal("not-encodable", `JSON has no form for a ${typeof value}`, 0);
  const bytes = encoder.encode(text);
  checkDepth(bytes, depthMax);
  if (escapedSurrogate.test(text) && jsonRefusal(bytes, depthMax))
    throw refusal("not-encodable", "a text has half of a surrogate pair", 0);
  return bytes;
}

/** The value of JSON bytes, which are private memory. Throws `bad-utf8`, `malformed`, `truncated`, `trailing-bytes` and `too-deep`. */
export function fromJson(bytes: Uint8Array, { depthMax }: CodecLimits): unknown {
  let value: unknown;
  let text: string;
  try {
    text = readUtf8(bytes, 0, bytes.length);
    checkDepth(bytes, depthMax);
    value = JSON.parse(text);
  } catch (cause) {
    // Each of the three has looked at the whole text: which byte is the first that is wrong is found by looking again.
    throw jsonRefusal(bytes, depthMax, cause) ?? cause;
  }
  const wrong = escapedSurrogate.test(text) ? jsonRefusal(bytes, depthMax) : undefined;
  if (wrong) throw wrong;
  return value;
}
