// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskPlacement } from "../task/task.js";
import type { TaskKind } from "../transport/protocol.js";
import { Estimate } from "./estimate.js";

/** All that a pool knows of one task. */
export class TaskRecord {
  /** Unknown until the first worker is ready. */
  kind: TaskKind | undefined;
  /** The task's place in the module's list; -1 while unknown. */
  index = -1;
  readonly estimate = new Estimate();
  calls = 0;
  ok = 0;
  failed = 0;
  cancelled = 0;
  /** Calls that ran on the caller's thread. */
  inline = 0;
  /** What the module says. */
  placement: TaskPlacement | undefined;

  constructor(readonly name: string) {}
}

/** The tasks that a pool knows of, by name. */
export class TaskRecords extends Map<string, TaskRecord> {
  /** Whether a worker has said what the module exposes. */
  known = false;

  /** What is known of a task. Names that do not exist are not remembered once the right ones are known. */
  of(name: string): TaskRecord {
    let record = this.get(name);
    if (!record) {
      record = new TaskRecord(name);
      if (!this.known) this.set(name, record);
    }
    return record;
  }
}
