// SPDX-License-Identifier: MIT OR Apache-2.0
import { define, underSeam } from "../../error/stack.js";
import { stackAbove } from "../caller-stack.js";

/** Puts the stack of who awaits the rejected promise under the error's own, and throws it on. */
export function stitch(error: unknown): never {
  if (error instanceof Error) define(error, "stack", (error.stack ?? "") + underSeam(stackAbove(stitch)));
  throw error;
}
