// SPDX-License-Identifier: MIT OR Apache-2.0
import { workerUrl } from "#lab-host";
import type { ActionName, Argument } from "./action.js";
import { batched } from "./batched.js";
import { type Strategy, WAITING_AT_ONCE, WAITING_THREADS } from "./strategy.js";

/** Makes one pool per cell. Its size suits the work, as for the tuned Piscina: a pool's owner knows the work. */
function clearway(placement: "worker" | "auto"): Strategy {
  return async (waits) => {
    const { pool } = await import("clearway");
    const make = () =>
      pool<typeof import("../work/offload-tasks.js")>(workerUrl("offload-tasks"), {
        size: waits === "blocking" ? WAITING_THREADS : "cpu",
        ...(waits === "async" ? { concurrency: WAITING_AT_ONCE } : {}),
        placement,
      });
    let made: ReturnType<typeof make>;
    let calls: Record<ActionName, (argument: Argument) => Promise<number>>;
    return {
      start: () => {
        made = make();
        calls = made.call as unknown as typeof calls;
      },
      run: batched((name, argument) => calls[name](argument)),
      close: () => made.close(),
    };
  };
}

export const clearways: Record<string, Strategy> = {
  "clearway-worker": clearway("worker"),
  "clearway-auto": clearway("auto"),
};
