// SPDX-License-Identifier: MIT OR Apache-2.0
// A way to a child process, with the same program at the other end. Node only.
import type { ChildProcess } from "node:child_process";
import type { Caller } from "./caller.js";
import type { Row } from "./row.js";

export interface ProcessKind {
  /** Whether the child also gets Node's own channel, in addition to its pipes. */
  ipc?: "advanced";
  open(child: ChildProcess, row: Row): Caller | Promise<Caller>;
  /** Runs in the child: echoes every call until the parent ends the child. */
  serve(row: Row): void | Promise<void>;
}
