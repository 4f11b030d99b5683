// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WireError } from "../../error/wire.js";
import { isCodecError } from "../codec/codec-error.js";
import { encodeWithin } from "../codec/out-of-band.js";
import { type StandardMessageCodec, standardMessageCodec } from "../codec/standard.js";

// A thrown error in the form of `error/wire.ts`, made of values that the standard codec can encode.

// Created on first use, so that bundlers can leave it out of an app that uses codecs but no channels.
let made: StandardMessageCodec | undefined;

/** Returns the codec of encoded errors. */
export function errorCodec(): StandardMessageCodec {
  made ??= standardMessageCodec.with({ emptyNull: false, depthMax: 256, itemsMax: 1 << 20 });
  return made;
}

/**
 * Replaces every part of an encoded error that the standard codec cannot encode by a text, such as `[not encodable: Function]`. Throws
 * `too-large` for a part that takes more than `bytesMax` bytes.
 */
export function plainError(wire: WireError, bytesMax: number): unknown {
  if (!("base" in wire)) return { value: plain(wire.value, bytesMax) };
  return {
    ...wire,
    name: wellFormed(wire.name),
    message: wellFormed(wire.message),
    stack: wellFormed(wire.stack),
    props: wire.props.map(([key, value]) => [wellFormed(key), plain(value, bytesMax)]),
    ...(wire.cause && { cause: plainError(wire.cause, bytesMax) }),
    ...(wire.errors && { errors: wire.errors.map((each) => plainError(each, bytesMax)) }),
  };
}

/** Returns the value if the standard codec can encode it, otherwise a text that names its type. Throws `too-large` beyond `bytesMax` bytes. */
export function plain(value: unknown, bytesMax: number): unknown {
  try {
    encodeWithin(errorCodec(), value, bytesMax);
    return value;
  } catch (error) {
    if (isCodecError(error) && error.code === "too-large") throw error;
    return `[not encodable: ${Object.prototype.toString.call(value).slice(8, -1)}]`;
  }
}

const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Replaces each surrogate that has no partner. Such a surrogate has no UTF-8 form, and the error must still arrive. */
export function wellFormed(text: string): string {
  return text.replace(lone, "\uFFFD");
}
