// SPDX-License-Identifier: MIT OR Apache-2.0

import { decodeError, type WireError } from "../../error/wire.js";
import { isWireError } from "../../error/wire-check.js";
import { MovedValue } from "../../transfer/move.js";
import { encodeThrown } from "../../transfer/thrown.js";
import { codecError, encodeWithin, isCodecError, outOfBand } from "../codec/codec.js";
import { type StandardMessageCodec, standardMessageCodec } from "../codec/standard.js";
import { RemoteError } from "../endpoint/outcome.js";

// A thrown error in the form of `error/wire.ts`, made of values that the standard codec can encode.

// Created on first use, so that bundlers can leave it out of an app that uses codecs but no channels.
let made: StandardMessageCodec | undefined;

/** Returns the codec of encoded errors. */
function errorCodec(): StandardMessageCodec {
  made ??= standardMessageCodec.with({ emptyNull: false, depthMax: 256, itemsMax: 1 << 20 });
  return made;
}

/**
 * Replaces every part of an encoded error that the standard codec cannot encode by a text, such as `[not encodable: Function]`. Throws
 * `too-large` for a part that takes more than `bytesMax` bytes.
 */
function plainError(wire: WireError, bytesMax: number): unknown {
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
function plain(value: unknown, bytesMax: number): unknown {
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
function wellFormed(text: string): string {
  return text.replace(lone, "\uFFFD");
}

/**
 * Returns a thrown value as an object that the standard codec can encode: class name, message, stack, own properties, causes. Copies all
 * parts. Never throws. A part that the codec cannot encode becomes a text, such as `[not encodable: Function]`.
 */
export function errorToPlain(thrown: unknown): unknown {
  return plainError(encodeThrown(thrown), Number.POSITIVE_INFINITY);
}

/**
 * Rebuilds a thrown value from what {@link errorToPlain} returned at the other end. An error has the class of the thrown one if every host
 * has that class, or if it is a `ClearwayError`. The frames of `callerStack` follow its own stack. Throws a `CodecError` with the code
 * `malformed` for a value that is no such object.
 */
export function errorFromPlain(plain: unknown, callerStack = ""): unknown {
  if (!isWireError(plain)) throw codecError("malformed", "an error does not have the form of an error", 0);
  return decodeError(plain, callerStack);
}

/** Returns the value that `move()` has marked, and any other value as it is. */
export function unmoved(value: unknown): unknown {
  return value instanceof MovedValue ? value.value : value;
}

// The body of a failed reply on Clearway's wire is a list of the standard codec: [code, message, details, error]. `error` is
// null, or the thrown error in the form of `error/wire.ts` (class name, stack, own properties, causes and errors).

/** An error as code, message, details and stack. */
export interface ErrorParts {
  readonly code: string;
  readonly message: string;
  readonly details: unknown;
  readonly stack: string;
}

const unreadable: ErrorParts = { code: "error", message: "an error that cannot be read", details: null, stack: "" };

/**
 * Returns the code, message, details and stack of a thrown value. If `exposeAll` is false, it leaves out details that come from
 * another end. Never throws, even if a getter or a proxy's trap throws.
 */
export function partsOf(thrown: unknown, exposeAll: boolean): ErrorParts {
  try {
    const { code, message, stack } = (thrown ?? {}) as { code?: unknown; message?: unknown; stack?: unknown };
    return {
      code: typeof code === "string" ? wellFormed(code) : "error",
      message: wellFormed(typeof message === "string" ? message : String(thrown)),
      // An error with a channel was received from another end, and so were its details.
      details: thrown instanceof RemoteError && (exposeAll || thrown.channel === "") ? thrown.details : null,
      stack: typeof stack === "string" ? wellFormed(stack) : "",
    };
  } catch {
    return unreadable;
  }
}

/**
 * Encodes a thrown value in at most `bytesMax` bytes, which must be 500 or more. If `exposeAll` is false, the body has only the
 * code, the message and the details that the handler chose. Never throws. A value that the codec cannot encode becomes a text,
 * such as `[not encodable: Function]`. An error that is too large keeps only the beginning of its code and of its message.
 */
export function writeError(thrown: unknown, bytesMax: number, exposeAll: boolean): Uint8Array {
  const { code, message, details } = partsOf(thrown, exposeAll);
  try {
    const whole = exposeAll ? plainError(encodeThrown(thrown), bytesMax) : null;
    const parts = [code, message, plain(details, bytesMax), whole];
    const body = encodeWithin(errorCodec(), parts, bytesMax);
    if (body.length <= bytesMax) return body;
  } catch {
    // The error is too large, or a getter in the details returned another value than before, which the codec cannot encode.
  }
  return errorCodec().encode([...shortened(code, message, bytesMax), null, null]);
}

/** Shortens a code and a message so that both fit into `bytesMax` bytes. Leaves 200 bytes for the other parts of the reply. */
export function shortened(code: string, message: string, bytesMax: number): [code: string, message: string] {
  // A character takes at most 3 bytes in UTF-8. It takes 6 bytes if JSON escapes a control character.
  const short = cut(code, 30);
  return [short, cut(message, Math.floor((bytesMax - 200) / 6) - short.length)];
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${wellFormed(text.slice(0, charactersMax - 1))}…`;
}

/** Decodes the body of an error that the other end sent. Throws a `CodecError` for a body that is not an error's list. */
export function readError(body: Uint8Array, channel: string, valuesMax: number): RemoteError {
  outOfBand.valuesMax = valuesMax;
  const parts = errorCodec().decode(body);
  if (!Array.isArray(parts)) throw codecError("malformed", "an error's body is no list", 0);
  const [code, message, details, wire] = parts as readonly unknown[];
  const cause = isWireError(wire) ? decodeError(wire) : undefined;
  const stack = cause instanceof Error ? (cause.stack ?? "") : "";
  return new RemoteError(text(code), text(message), { details: details ?? null, channel, cause, stack });
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
