// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a channel to a child process. The child lives for one measurement.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Mechanism } from "../protocol/measured.js";
import type { Caller, OpenCaller } from "./caller.js";
import { type ChannelParams, channelParamsOf } from "./caller.js";
import { drive, measuredOf } from "./drive.js";

/** Makes the mechanism. `entry` names the child's program, which serves the same kind. The program gets the parameters as its argument. */
export function processChannel(kind: ProcessKind, entry: string): Mechanism {
  return async (work) => {
    const params = channelParamsOf(work.params);
    const child = startEcho(kind, entry, params);
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

/** Starts a process that echoes, and opens a caller in this process. */
export async function openProcessEcho(kind: ProcessKind, entry: string, params: ChannelParams): Promise<OpenCaller> {
  const child = startEcho(kind, entry, params);
  const exited = once(child, "exit");
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  try {
    return { caller: await kind.open(child, params), end };
  } catch (error) {
    await end();
    throw error;
  }
}

function startEcho(kind: ProcessKind, entry: string, params: ChannelParams): ChildProcess {
  const program = fileURLToPath(new URL(`./work-${entry}.js`, import.meta.url));
  return spawn(process.execPath, [program, JSON.stringify(params)], {
    stdio: ["pipe", "pipe", "inherit", ...(kind.ipc === undefined ? [] : (["ipc"] as const))],
    ...(kind.ipc && { serialization: kind.ipc }),
  });
}

/** Returns the parameters that the parent passed to this child process. */
export function servedParams(): ReturnType<typeof channelParamsOf> {
  return JSON.parse(process.argv[2] ?? "null");
}

// A mechanism between a parent and a child process. Both ends use the same kind. Node only.

export interface ProcessKind {
  /** Gives the child Node's own IPC channel in addition to its pipes. */
  ipc?: "advanced";
  open(child: ChildProcess, params: ChannelParams): Caller | Promise<Caller>;
  /** Runs in the child: echoes every call until the parent ends the child. */
  serve(params: ChannelParams): void | Promise<void>;
}
