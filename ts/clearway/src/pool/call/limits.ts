// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import { timeLimit } from "../../lazy/lazy.js";
import type { Engine } from "../engine.js";
import type { PoolCall } from "./call.js";

/** Cancels a call when its signal aborts, and at its `deadlineMs`. */
export function armLimits(engine: Engine, call: PoolCall): void {
  const { signal, deadlineMs } = call.options;
  if (signal) call.unlisten = onAbort(signal, (reason) => engine.cancel(call, reason));
  if (deadlineMs === undefined) return;
  // Made here, so that its stack has the lines of the caller.
  const why = new ClearwayError("deadline", `the call did not end within ${deadlineMs} ms`);
  call.deadline = timeLimit(deadlineMs, () => engine.cancel(call, why));
}

/** Fails a call that has begun in its worker, if it runs longer than `timeoutMs`. */
export function armTimeout(engine: Engine, call: PoolCall): void {
  const { timeoutMs } = call.options;
  if (timeoutMs === undefined) return;
  const why = new ClearwayError("timeout", `the task ran longer than ${timeoutMs} ms`);
  const limit = timeLimit(timeoutMs, () => {
    // The call may have lost its worker meanwhile, and wait for another one.
    if (call.limit === limit && call.state === "started") engine.expire(call, why);
  });
  call.limit = limit;
}
