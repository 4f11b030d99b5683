// SPDX-License-Identifier: MIT OR Apache-2.0
// A mechanism between a parent and a child process. Both ends use the same kind. Node only.
import type { ChildProcess } from "node:child_process";
import type { Caller } from "./caller.js";
import type { ChannelParams } from "./channel-params.js";

export interface ProcessKind {
  /** Gives the child Node's own IPC channel in addition to its pipes. */
  ipc?: "advanced";
  open(child: ChildProcess, params: ChannelParams): Caller | Promise<Caller>;
  /** Runs in the child: echoes every call until the parent ends the child. */
  serve(params: ChannelParams): void | Promise<void>;
}
