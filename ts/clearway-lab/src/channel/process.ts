// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a channel to a child process. The child lives for one measurement.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Caller, ChannelParams, channelParamsOf, OpenCaller } from "./caller.js";

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
