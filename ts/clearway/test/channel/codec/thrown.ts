// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, isCodecError } from "clearway/channel";

/** Returns "code offset" of a thrown codec error, or the code of another `ClearwayError`. Otherwise fails or rethrows. */
export function thrown(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isCodecError(error)) return `${error.code} ${error.offset}`;
    if (error instanceof ClearwayError) return error.code;
    throw error;
  }
  throw new Error("nothing was thrown");
}

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const bytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text.replaceAll(" ", "").match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
