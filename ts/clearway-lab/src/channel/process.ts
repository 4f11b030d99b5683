// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a channel to a child process. The child lives for one measurement.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Mechanism } from "../protocol/measured.js";
import { channelParamsOf } from "./channel-params.js";
import { drive, measuredOf } from "./drive.js";
import type { ProcessKind } from "./process-kind.js";

/** Makes the mechanism. `entry` names the child's program, which serves the same kind. The program gets the parameters as its argument. */
export function processChannel(kind: ProcessKind, entry: string): Mechanism {
  return async (work) => {
    const params = channelParamsOf(work.params);
    const program = fileURLToPath(new URL(`./work-${entry}.js`, import.meta.url));
    const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(params)], {
      stdio: ["pipe", "pipe", "inherit", ...(kind.ipc === undefined ? [] : (["ipc"] as const))],
      ...(kind.ipc && { serialization: kind.ipc }),
    });
    const exited = once(child, "exit");
    const failed = exited.then(([code, signal]) => {
      throw new Error(`the child exited too early: code=${code} signal=${signal}`);
    });
    // Marks the rejection as handled: after a successful measurement, nothing awaits `failed`.
    failed.catch(() => {});
    try {
      const caller = await kind.open(child, params);
      const figures = await Promise.race([drive(caller, params), failed]);
      await caller.close();
      return measuredOf(figures);
    } finally {
      child.kill("SIGKILL");
      await exited;
    }
  };
}

/** Returns the parameters that the parent passed to this child process. */
export function servedParams(): ReturnType<typeof channelParamsOf> {
  return JSON.parse(process.argv[2] ?? "null");
}
