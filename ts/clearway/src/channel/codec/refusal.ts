// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { CodecErrorCode } from "../../error/codec-codes.js";

/** What a codec throws: which of {@link codecErrorCodes} it is, and where. */
export interface CodecError extends ClearwayError {
  readonly code: CodecErrorCode;
  /**
   * Reading: the byte of the message at which it can be read no further, as spec/wire.md defines for each code. Writing:
   * how many bytes had been written.
   */
  readonly offset: number;
}

/** The error for bytes or a value that the codec refuses. `what` says what stands there, without the offset. */
export function refusal(code: CodecErrorCode, what: string, offset: number, cause?: unknown): CodecError {
  const error = new ClearwayError(code, `${what}, at byte ${offset}`, cause === undefined ? undefined : { cause });
  return Object.assign(error, { offset }) as ClearwayError as CodecError;
}

/** Whether a thrown value is a codec's refusal, with an offset. */
export function isCodecError(thrown: unknown): thrown is CodecError {
  return thrown instanceof ClearwayError && typeof (thrown as Partial<CodecError>).offset === "number";
}
