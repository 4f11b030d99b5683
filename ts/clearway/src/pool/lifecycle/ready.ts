// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskPlacement } from "../../task/task.js";
import type { TaskKind } from "../../transport/protocol.js";
import type { PoolWorker } from "../worker.js";
import { sortEarly } from "./early.js";

/** What a worker's module exposes, as the worker says it. */
export type Tasks = [name: string, kind: TaskKind, placement?: TaskPlacement][];

/** A worker can take calls. One that was ended before takes none. */
export function ready(worker: PoolWorker, tasks: Tasks): void {
  const { engine } = worker;
  clearTimeout(worker.startTimer);
  if (worker.killed || !worker.life.ready()) return;
  sortEarly(engine, tasks);
  tasks.forEach(([name, kind, placement], index) => {
    const record = engine.records.of(name);
    record.kind = kind;
    record.index = index;
    record.placement = placement;
  });
  const wanted = engine.settings.placement;
  if (wanted ?? tasks.some(([, , placement]) => placement === "auto")) engine.expectPlacing();
  engine.records.known = true;
  engine.tellReady();
  engine.loadDropped(worker);
}
