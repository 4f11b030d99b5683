// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskPlacement } from "../../task/task.js";
import { enterCopy } from "../../transfer/ledger.js";
import { Op, type TaskKind } from "../../transport/protocol.js";
import type { Slot } from "../slot.js";

/** What a worker's module exposes, as the worker says it. */
export type Tasks = [name: string, kind: TaskKind, placement?: TaskPlacement][];

/** A worker can take calls. */
export function ready(slot: Slot, tasks: Tasks): void {
  const { engine } = slot;
  tasks.forEach(([name, kind, placement], index) => {
    const record = engine.records.of(name);
    record.kind = kind;
    record.index = index;
    record.placement = placement;
    if (engine.settings.placement ?? placement === "auto") engine.placing().catch(engine.settings.onError);
  });
  engine.records.known = true;
  engine.tellReady();
  engine.eased(slot);
  void slot.ring?.then((part) => part && openRing(slot, part));
}

// From then on both sides' small frames leave by shared memory. Where that part cannot be loaded, the port goes on.
function openRing(slot: Slot, part: typeof import("../../transport/ring/open-ring.js")): void {
  if (slot.life.state !== "ready") return;
  const lane = part.openRing(slot.handle, {
    message: (frames) => slot.receive(frames),
    frame: (op, id, a, b) => slot.frame(op, id, a, b),
    drained: () => slot.told(),
    broken: (error) => slot.unreadable(error.message),
    copied: (bytes) => enterCopy(slot.engine.fromWorkers, "small", bytes),
    expects: () => slot.calls.size > 0,
  });
  slot.tell(Op.Ring, 0, lane.memory);
  slot.lane = slot.transport.lane = lane;
}
