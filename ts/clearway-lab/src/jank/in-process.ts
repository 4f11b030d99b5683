// SPDX-License-Identifier: MIT OR Apache-2.0
// Loaded by Node before the measured script, in the script's process: the meter on the script's thread, and the profiler's thread.
import { once } from "node:events";
import { register } from "node:module";
import { isMainThread, Worker } from "node:worker_threads";
import { ANSWER_EVERY_MS, FLOOR_VARIABLE, PARENT_VARIABLE, PROCESS_HANDLE, type ThreadMessage } from "./message.js";
import { hasEsbuild, TYPESCRIPT } from "./typescript.js";

/** How long the end of the script waits for the profile, in milliseconds. A profile of minutes takes about a second. */
const PROFILE_MS_MAX = 20_000;

// The script's own workers and child processes load this file as well, and must not measure.
if (isMainThread && process.env[PARENT_VARIABLE] === String(process.ppid)) await start();

async function start(): Promise<void> {
  const floorMs = Number(process.env[FLOOR_VARIABLE]);
  for (const name of [PARENT_VARIABLE, FLOOR_VARIABLE]) delete process.env[name];
  if (TYPESCRIPT.test(process.argv[1] ?? "") && hasEsbuild()) register("./jank-typescript.js", import.meta.url);
  const { watch } = await import("clearway/meter");
  /** `[0]` becomes 1 when the profiler's thread has sent everything. `[1]`: the last answer of this thread, in ms since the start. */
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const profiler = new Worker(new URL("./jank-profiler.js", import.meta.url), { workerData: shared, execArgv: [] });
  const tell = (message: ThreadMessage): void => profiler.postMessage(message);
  await once(profiler, "message");
  const watching = watch({ hz: 60, floorMs, onStall: (stall) => tell({ type: "stall", stall }) });
  await watching.ready;
  profiler.unref();
  // With the script's own listener for errors, a failure of this thread would end the script.
  profiler.on("error", () => Atomics.store(shared, 0, 1));
  Object.defineProperty(globalThis, Symbol.for(PROCESS_HANDLE), {
    value: () => {
      watching.stop();
      return JSON.stringify(watching.report());
    },
  });
  const finish = (): void => {
    watching.stop();
    tell({ type: "exit", report: watching.report() });
    Atomics.wait(shared, 0, 0, PROFILE_MS_MAX);
  };
  process.once("exit", finish);
  watching.reset();
  // V8's profiles and hrtime have the same clock.
  const beginUs = Number(process.hrtime.bigint() / 1000n);
  tell({ type: "begin", beginUs });
  const answer = (): void => {
    Atomics.store(shared, 1, (Number(process.hrtime.bigint() / 1000n) - beginUs) / 1000);
  };
  setInterval(answer, ANSWER_EVERY_MS).unref();
}
