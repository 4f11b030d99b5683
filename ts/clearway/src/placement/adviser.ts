// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskRecord } from "../pool/task-record.js";
import { type Advice, adviceOf, type Facts, factsOf, textOf } from "./advice.js";
import type { Clock } from "./clock.js";
import type { Model } from "./model.js";

/** What the advisor asks of the pool. */
export interface AdviserOwner {
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly workforce: { count(state: "ready"): number };
  ping(): Promise<unknown>;
}

// The median of so many round trips; the first is thrown away, as it may have to wake a worker.
const pings = 9;

/** Advises on every task of a pool. Runs none of them. */
export async function advise(
  owner: AdviserOwner,
  clock: Clock,
  budgetUs: number,
  known: (task: TaskRecord) => { model: Model | undefined; placement: Facts["placement"] },
  notes: string[],
): Promise<Advice> {
  const records = [...owner.records.values()].filter((record) => record.index >= 0);
  const facts = records.map((record): Facts => {
    const { model, placement } = known(record);
    const { estimate, name, calls, inline } = record;
    return {
      task: name,
      placement,
      movable: record.placement !== "worker",
      stream: record.kind === "stream",
      calls,
      inline,
      // What every result carries is known for each task, whether it was ever placed or not.
      samples: estimate.samples,
      runUs: estimate.meanUs,
      upperUs: estimate.meanUs === undefined ? undefined : estimate.peakUs,
      hopUs: undefined,
      inlineUs: undefined,
      ...(model && factsOf(model)),
    };
  });
  const asked = facts.some(({ hopUs, runUs }) => hopUs === undefined && runUs !== undefined);
  const hopUs = asked && owner.workforce.count("ready") > 0 ? await pingUs(owner, clock) : undefined;
  const tasks = facts.map((each) => adviceOf({ ...each, hopUs: each.hopUs ?? hopUs }, budgetUs));
  return { tasks, notes, text: textOf(tasks, notes) };
}

async function pingUs(owner: AdviserOwner, clock: Clock): Promise<number | undefined> {
  try {
    const trips: number[] = [];
    for (let at = 0; at <= pings; at++) {
      const fromUs = clock.nowUs();
      await owner.ping();
      if (at > 0) trips.push(clock.nowUs() - fromUs);
    }
    return trips.sort((a, b) => a - b)[(pings - 1) / 2];
  } catch {
    // The pool ended meanwhile: its figures are advice enough.
    return undefined;
  }
}
