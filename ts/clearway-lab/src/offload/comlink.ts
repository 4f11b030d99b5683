// SPDX-License-Identifier: MIT OR Apache-2.0
// This file is separate and loaded on demand, because Comlink's ES modules can only be imported statically.
import * as Comlink from "comlink";
import { openWorker } from "#lab-host";
import type { ActionName, Argument } from "./action.js";
import { concurrentBatch } from "./concurrent-batch.js";
import type { BatchExecutor } from "./strategy.js";

export function comlinkExecutor(): BatchExecutor {
  let worker: ReturnType<typeof openWorker> | undefined;
  let remote: Record<ActionName, (argument: Argument) => Promise<number>>;
  return {
    start: () => {
      worker = openWorker("offload-comlink");
      remote = Comlink.wrap(worker.endpoint()) as unknown as typeof remote;
    },
    run: concurrentBatch((name, argument) => remote[name](argument)),
    close: () => worker?.end(),
  };
}
