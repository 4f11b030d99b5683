// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Advice, adviceOf, type Facts, factsOf, textOf } from "./advice.js";
import type { Clock } from "./clock.js";
import type { Model } from "./model.js";
import type { PlacedTask, PlacerOwner } from "./owner.js";

// So many round trips at least after the first, which may have to wake a worker, and so many that they can be told on a
// page's clock, which is read in steps of 100 us there: nine trips of 5 us begin and end in the same step.
const pingsMin = 9;
const pingsMax = 128;
const readableUs = 1000;

/** The part of a pool that the advisor reads. */
export type AdviserOwner = Pick<PlacerOwner, "records" | "workers" | "ping">;

/** Advises on every task of a pool. Runs none of them. */
export async function advise(
  owner: AdviserOwner,
  clock: Clock,
  budgetUs: number,
  known: (task: PlacedTask) => { model: Model | undefined; placement: Facts["placement"] },
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
  const hopUs = asked && owner.workers.count("ready") > 0 ? await pingUs(owner, clock) : undefined;
  const tasks = facts.map((each) => adviceOf({ ...each, hopUs: each.hopUs ?? hopUs }, budgetUs));
  return { tasks, notes, text: textOf(tasks, notes) };
}

async function pingUs(owner: AdviserOwner, clock: Clock): Promise<number | undefined> {
  try {
    await owner.ping();
    let sumUs = 0;
    let longestUs = 0;
    let trips = 0;
    // Without the longest, which may have met a pause. Their mean and not their median, which is a step of the clock.
    for (; trips < pingsMin || (sumUs - longestUs < readableUs && trips < pingsMax); trips++) {
      const fromUs = clock.nowUs();
      await owner.ping();
      const us = clock.nowUs() - fromUs;
      sumUs += us;
      longestUs = Math.max(longestUs, us);
    }
    return (sumUs - longestUs) / (trips - 1);
  } catch {
    // The pool ended meanwhile: its figures are advice enough.
    return undefined;
  }
}
