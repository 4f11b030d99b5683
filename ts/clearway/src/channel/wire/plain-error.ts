// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WireError } from "../../error/wire.js";
import { type StandardMessageCodec, standardMessageCodec } from "../codec/standard.js";

// A thrown error in the form of `error/wire.ts`, made of values that the standard codec can encode.

// Created on first use, so that bundlers can leave it out of an app that uses codecs but no channels.
let made: StandardMessageCodec | undefined;

/** Returns the codec of encoded errors. */
export function errorCodec(): StandardMessageCodec {
  made ??= standardMessageCodec.with({ emptyNull: false, depthMax: 256, itemsMax: 1 << 20 });
  return made;
}

/** Replaces every part of an encoded error that the standard codec cannot encode by a text, such as `[not encodable: Function]`. */
export function plainError(wire: WireError): unknown {
  if (!("base" in wire)) return { value: plain(wire.value) };
  return {
    ...wire,
    name: wellFormed(wire.name),
    message: wellFormed(wire.message),
    stack: wellFormed(wire.stack),
    props: wire.props.map(([key, value]) => [wellFormed(key), plain(value)]),
    ...(wire.cause && { cause: plainError(wire.cause) }),
    ...(wire.errors && { errors: wire.errors.map(plainError) }),
  };
}

/** Returns the value if the standard codec can encode it, otherwise a text that names its type. */
export function plain(value: unknown): unknown {
  try {
    errorCodec().encode(value);
    return value;
  } catch {
    return `[not encodable: ${Object.prototype.toString.call(value).slice(8, -1)}]`;
  }
}

const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Replaces each surrogate that has no partner. Such a surrogate has no UTF-8 form, and the error must still arrive. */
export function wellFormed(text: string): string {
  return text.replace(lone, "\uFFFD");
}
