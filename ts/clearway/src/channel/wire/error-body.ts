// SPDX-License-Identifier: MIT OR Apache-2.0
import { isWireError } from "../../error/wire-check.js";
import { decodeError, encodeThrown } from "../../transfer/thrown.js";
import { codecError } from "../codec/codec-error.js";
import { encodeWithin } from "../codec/out-of-band.js";
import { RemoteError } from "../endpoint/remote-error.js";
import { errorCodec as codec, plain, plainError, wellFormed } from "./plain-error.js";

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
    const body = encodeWithin(codec(), parts, bytesMax);
    if (body.length <= bytesMax) return body;
  } catch {
    // The error is too large, or a getter in the details returned another value than before, which the codec cannot encode.
  }
  return codec().encode([...shortened(code, message, bytesMax), null, null]);
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
export function readError(body: Uint8Array, channel: string): RemoteError {
  const parts = codec().decode(body);
  if (!Array.isArray(parts)) throw codecError("malformed", "an error's body is no list", 0);
  const [code, message, details, wire] = parts as readonly unknown[];
  const cause = isWireError(wire) ? decodeError(wire) : undefined;
  const stack = cause instanceof Error ? (cause.stack ?? "") : "";
  return new RemoteError(text(code), text(message), { details: details ?? null, channel, cause, stack });
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
