// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { checkDepth } from "../../error/depth.js";
import type { Engine } from "../engine.js";
import type { PoolCall } from "../pool-call.js";
import type { TaskRecord } from "../task-record.js";

/** Whether a call that is about to leave may leave; if not, it has been dealt with. */
export function admits({ tracker, records, lifecycle }: Engine, call: PoolCall): boolean {
  const { record } = call;
  if (record.index < 0) {
    tracker.cancel(call, unknownTask(record.name, records));
    return false;
  }
  if (call.deep) {
    try {
      call.args.forEach(checkDepth);
    } catch (reason) {
      tracker.refuse(call, reason);
      return false;
    }
  }
  if (!call.isStream) return true;
  call.tellStream();
  // Its reader may have asked before any worker was ready. One that asked for its end has got it now.
  if (lifecycle) call.stream?.open(lifecycle);
  if (call.state !== "queued") return false;
  if (call.stream?.consumer?.credit.items) return true;
  // It is nobody's yet: it waits for its reader instead.
  call.setAside();
  record.calls--;
  tracker.settled(call);
  return false;
}

/** The error for a name that the module does not expose. */
export function unknownTask(name: string, records: ReadonlyMap<string, TaskRecord>): ClearwayError {
  const known = [...records.values()].flatMap((record) => (record.index < 0 ? [] : record.name));
  return new ClearwayError(
    "unknown-task",
    `the module exposes no task "${name}"; it exposes ${known.join(", ") || "none"}`,
  );
}
