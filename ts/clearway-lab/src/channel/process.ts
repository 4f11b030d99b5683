// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a channel to a child process. The child lives for one measurement.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { childTransport, parentTransport } from "clearway/channel/stdio";
import { serializer } from "#lab-host";
import { type Caller, type ChannelParams, type OpenCaller, PendingCalls } from "./caller.js";
import { clearwayCaller, clearwayEcho } from "./clearway.js";

/** Starts a process that echoes, and opens a caller in this process. */
export async function openProcessEcho(name: ProcessName, params: ChannelParams): Promise<OpenCaller> {
  const kind = KINDS[name];
  const child = startEcho(kind, name, params);
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

function startEcho(kind: ProcessKind, name: ProcessName, params: ChannelParams): ChildProcess {
  const program = fileURLToPath(new URL("./work-channel-process.js", import.meta.url));
  return spawn(process.execPath, [program, name, JSON.stringify(params)], {
    stdio: ["pipe", "pipe", "inherit", ...(kind.ipc === undefined ? [] : (["ipc"] as const))],
    ...(kind.ipc && { serialization: kind.ipc }),
  });
}

/** Echoes calls in the child process, as the parent asked by its arguments. */
export async function serveParent(): Promise<void> {
  const [name, params] = process.argv.slice(2);
  await KINDS[name as ProcessName].serve(JSON.parse(params!));
}

// A mechanism between a parent and a child process. Both ends use the same kind. Node only.

interface ProcessKind {
  /** Gives the child Node's own IPC channel in addition to its pipes. */
  ipc?: "advanced";
  open(child: ChildProcess, params: ChannelParams): Caller | Promise<Caller>;
  /** Runs in the child: echoes every call until the parent ends the child. */
  serve(params: ChannelParams): void | Promise<void>;
}

/** Clearway's channel over the stdin and stdout of a child process. */
const clearwayStdioKind: ProcessKind = {
  open: (child, params) => clearwayCaller(childTransport(child), params),
  serve: (params) => clearwayEcho(parentTransport(), params),
};

interface CallMessage {
  id: number;
  value: unknown;
  method?: string;
}

/** Node's own channel to a child process: `child.send` with serialization "advanced", which sends structured clones through a pipe. */
const ipcKind: ProcessKind = {
  ipc: "advanced",
  open(child, { channel }): Caller {
    const pending = new PendingCalls();
    let copied = 0;
    let size = 0;
    child.on("message", (message) => {
      const { id, value } = message as CallMessage;
      copied += size;
      pending.settle(id, value);
    });
    return {
      call: (value) =>
        pending.call((id) => {
          const message: CallMessage = channel === "method" ? { id, method: "test", value } : { id, value };
          size ||= serializer.size(serializer.encode(message));
          copied += size;
          child.send(message);
        }),
      copiedBytes: () => copied,
      close: () => child.disconnect(),
    };
  },
  serve() {
    process.on("message", (message) => {
      const { id, value } = message as CallMessage;
      process.send?.({ id, value });
    });
  },
};

const KINDS = { clearway: clearwayStdioKind, ipc: ipcKind };

export type ProcessName = keyof typeof KINDS;
