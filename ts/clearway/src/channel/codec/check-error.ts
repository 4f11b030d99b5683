// SPDX-License-Identifier: MIT OR Apache-2.0
import type { MethodError } from "./codec.js";
import { refusal } from "./refusal.js";

/** Sees that an error's parts are what the envelope takes. Throws `not-encodable`. */
export function checkError(error: MethodError): MethodError {
  const { code, message, stack } = error;
  if (typeof code !== "string") throw refusal("not-encodable", "an error's code is no string", 0);
  if (message !== null && typeof message !== "string")
    throw refusal("not-encodable", "an error's message is neither a string nor null", 0);
  if (stack !== undefined && stack !== null && typeof stack !== "string")
    throw refusal("not-encodable", "an error's stack trace is neither a string nor null", 0);
  return error;
}
