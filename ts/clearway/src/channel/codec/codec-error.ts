// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { CodecErrorCode } from "../../error/codec-codes.js";
import type { MethodError } from "./codec.js";

/** The error that a codec throws, with the position of the failure. */
export interface CodecError extends ClearwayError {
  readonly code: CodecErrorCode;
  /**
   * Offset of the failure, in bytes. When a message is decoded, this is the first byte that cannot be read; spec/wire.md
   * defines that byte for each code. When the standard codec encodes a value, this is the number of bytes written before the
   * failure.
   */
  readonly offset: number;
}

/** Creates a {@link CodecError}. `what` describes the failure; the function appends the offset. */
export function codecError(code: CodecErrorCode, what: string, offset: number, cause?: unknown): CodecError {
  const error = new ClearwayError(code, `${what}, at byte ${offset}`, cause === undefined ? undefined : { cause });
  return Object.assign(error, { offset }) as ClearwayError as CodecError;
}

/** Returns whether a thrown value is a {@link CodecError}. */
export function isCodecError(thrown: unknown): thrown is CodecError {
  return thrown instanceof ClearwayError && typeof (thrown as Partial<CodecError>).offset === "number";
}

/**
 * Throws `released` if the list's memory was transferred. Only empty lists need this check: a list that lost its memory has the
 * length 0.
 */
export function requireMemory({ buffer }: ArrayBufferView): void {
  try {
    new Uint8Array(buffer);
  } catch (cause) {
    throw memoryMovedError(cause);
  }
}

/** Returns the error for a list whose memory was transferred before the codec copied it. */
export function memoryMovedError(cause?: unknown): ClearwayError {
  return new ClearwayError("released", "a list's memory was moved away before it was written", { cause });
}

/** Checks the types of an error reply's code, message and stack. Throws `not-encodable`. */
export function checkError(error: MethodError): MethodError {
  const { code, message, stack } = error;
  if (typeof code !== "string") throw codecError("not-encodable", "an error's code is no string", 0);
  if (message !== null && typeof message !== "string")
    throw codecError("not-encodable", "an error's message is neither a string nor null", 0);
  if (stack !== undefined && stack !== null && typeof stack !== "string")
    throw codecError("not-encodable", "an error's stack trace is neither a string nor null", 0);
  return error;
}
