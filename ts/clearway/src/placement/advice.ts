// SPDX-License-Identifier: MIT OR Apache-2.0

import type { CallProfile } from "./call-profile.js";
import type { Model } from "./model.js";
import type { PlacedTask, PlacerOwner } from "./owner.js";
import type { Clock } from "./turn.js";

// Minimum and maximum number of timed round trips. An untimed trip comes first, because it may wake a worker. A page's clock has steps of
// 100 us, so nine trips of 5 us each may begin and end within one step. Further trips therefore follow until the trips have taken
// `readableUs` microseconds in total.
const pingsMin = 9;
const pingsMax = 128;
const readableUs = 1000;
// Number of measured runs that advice needs.
const samplesNeeded = 16;
// Minimum speed-up that justifies a change of the code.
const worthFactor = 1.2;

/** The part of a pool that the advisor uses. */
export type AdviserOwner = Pick<PlacerOwner, "records" | "workers" | "ping">;

/** Returns the advice for every task of a pool. Runs no task. May send pings to a worker, to measure the hop. */
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
      // Every result from a worker includes its run time, so these figures exist for tasks without placement too.
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
    // Leaves out the longest trip, which may include a pause. Uses the mean, because the median would be a multiple of the clock's step.
    for (; trips < pingsMin || (sumUs - longestUs < readableUs && trips < pingsMax); trips++) {
      const fromUs = clock.nowUs();
      await owner.ping();
      const us = clock.nowUs() - fromUs;
      sumUs += us;
      longestUs = Math.max(longestUs, us);
    }
    return (sumUs - longestUs) / (trips - 1);
  } catch {
    // The pool has ended. The advice then does not include the price of a hop.
    return undefined;
  }
}

/** The advice for one task, as plain data. All times are in microseconds. */
export interface TaskAdvice {
  task: string;
  /** Where the task's calls run now. With `auto`, placement decides for each call. */
  placement: "auto" | "worker" | "inline";
  calls: number;
  /** Share of the calls that ran on the caller's thread, from 0 to 1. */
  inlineShare: number;
  /** Number of measured runs in workers. */
  samples: number;
  /** Mean time of a run in a worker. Undefined without a measurement. */
  runUs: number | undefined;
  /** Upper bound for the time of a run. Undefined without a measurement. */
  upperUs: number | undefined;
  /** Time that the hop to a worker and back adds to a single call. Undefined without a measurement. */
  hopUs: number | undefined;
  /** Mean time of a run on the caller's thread, including the time to copy arguments and results. Undefined without a measurement. */
  inlineUs: number | undefined;
  /** The better place for the task's calls. Undefined without enough measurements. */
  better: "inline" | "worker" | undefined;
  /**
   * How many times faster a single call is in the better place than in the other one. If both are about equally fast, the worker is the
   * better place, because it keeps the caller's thread free; the factor is then between 0.83 and 1.2.
   */
  factor: number | undefined;
  /** The advice as a sentence. */
  advice: string;
}

/** The advice for all tasks of a pool, as plain data for `JSON.stringify`. */
export interface Advice {
  tasks: TaskAdvice[];
  /** Notes about the whole pool, such as the reason why nothing can run inline. */
  notes: string[];
  text: string;
}

/** The measurements of a task, from the pool or from placement. All times are in microseconds. */
export interface Facts {
  task: string;
  placement: TaskAdvice["placement"];
  /** Whether the task holds no resource and is not declared `worker`. It may be true for a stream: see `stream`. */
  movable: boolean;
  stream: boolean;
  calls: number;
  inline: number;
  samples: number;
  runUs: number | undefined;
  upperUs: number | undefined;
  hopUs: number | undefined;
  inlineUs: number | undefined;
}

/** Returns the advice for one task. A pure function. */
export function adviceOf(facts: Facts, budgetUs: number): TaskAdvice {
  const { task, placement, calls, inline, samples, runUs, upperUs, hopUs, inlineUs } = facts;
  const said = { task, placement, calls, inlineShare: calls === 0 ? 0 : inline / calls, samples };
  const figures = { runUs, upperUs, hopUs, inlineUs };
  const say = (advice: string, better?: "inline" | "worker", factor?: number): TaskAdvice => ({
    ...said,
    ...figures,
    better,
    factor,
    advice: `${task}() ${advice}`,
  });
  if (facts.stream) return say("is a stream: it stays in a worker", "worker");
  if (runUs === undefined || upperUs === undefined || samples < samplesNeeded) {
    return say(`was measured ${samples} times: too little to say`);
  }
  const takes = `takes ${shown(runUs)}`;
  if (upperUs > budgetUs) {
    const upTo = upperUs > runUs * 2 ? ` and up to ${shown(upperUs)}` : "";
    const held = `${takes}${upTo}, more than the ${shown(budgetUs)} that may hold the caller's thread`;
    return say(`${held}: ${placement === "inline" ? "move it to a worker" : "keep it in the worker"}`, "worker");
  }
  if (hopUs === undefined) return say(`${takes}; what its hop costs is not known yet`);
  const hereUs = inlineUs ?? runUs;
  const factor = (hopUs + runUs) / Math.max(hereUs, 0.1);
  const compared = `${takes} and its hop costs ${shown(hopUs)}`;
  if (factor < 1 / worthFactor) return say(`${compared}: the worker is faster`, "worker", 1 / factor);
  // Both places are about equally fast. Recommends the worker, because it keeps the caller's thread free.
  if (factor < worthFactor) return say(`${compared}: either place will do`, "worker", 1 / factor);
  const gain = `${factor < 10 ? factor.toFixed(1) : Math.round(factor)} times faster inline`;
  if (placement === "inline") return say(`${compared}: ${gain}, where it is`, "inline", factor);
  if (placement === "auto")
    return say(`${compared}: ${gain} when it is called alone, and auto sees to it`, "inline", factor);
  const how = facts.movable
    ? 'mark it placement: "auto"'
    : "but it holds a resource, or says that it belongs in a worker";
  return say(`${compared}: ${gain}; ${how}`, "inline", factor);
}

/**
 * Returns the measurements of a task. Placement groups calls whose arguments should cost about the same into classes (`model.ts`), and
 * keeps a call profile for each class. The mean times are those of the most common class. `samples` counts the runs of all classes, and
 * `upperUs` is the highest bound of all classes.
 */
export function factsOf(model: Model): Pick<Facts, "samples" | "runUs" | "upperUs" | "hopUs" | "inlineUs"> | undefined {
  let main: CallProfile | undefined;
  let samples = 0;
  let upperUs = 0;
  for (const profile of model.profiles.values()) {
    samples += profile.run.count;
    upperUs = Math.max(upperUs, profile.run.upperUs);
    if (main === undefined || profile.run.count + profile.inline.count > main.run.count + main.inline.count)
      main = profile;
  }
  if (main === undefined || samples === 0) return undefined;
  return {
    samples,
    runUs: main.runUs,
    upperUs,
    hopUs: main.hop.us(1),
    inlineUs: main.measured ? main.inlineUs : undefined,
  };
}

/** Returns all advice as text, with the largest gains first. */
export function textOf(tasks: readonly TaskAdvice[], notes: readonly string[]): string {
  const gain = ({ factor = 0, placement, better }: TaskAdvice): number => (placement === better ? 0 : factor);
  const sorted = [...tasks].sort((a, b) => gain(b) - gain(a));
  return [...sorted.map(({ advice }) => advice), ...notes].join("\n");
}

function shown(us: number): string {
  if (us < 10) return `${us.toFixed(1)} us`;
  return us < 1000 ? `${Math.round(us)} us` : `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}
