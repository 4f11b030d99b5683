// SPDX-License-Identifier: MIT OR Apache-2.0
// A way to a child process, the same program at the other end. Node only.
import type { ChildProcess } from "node:child_process";
import type { Caller } from "./caller.js";
import type { Row } from "./row.js";

export interface ProcessKind {
  /** Whether the child gets Node's own channel beside its pipes. */
  ipc?: "advanced";
  open(child: ChildProcess, row: Row): Caller | Promise<Caller>;
  /** In the child: answers every call with what it was given, until its parent ends it. */
  serve(row: Row): void | Promise<void>;
}
