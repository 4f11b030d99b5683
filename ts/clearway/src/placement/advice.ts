// SPDX-License-Identifier: MIT OR Apache-2.0

import type { CallProfile } from "./call-profile.js";
import type { Model } from "./model.js";
import type { PlacedTask, PlacerOwner } from "./owner.js";
import type { Clock } from "./turn.js";

// So many round trips at least after the first, which may have to wake a worker, and so many that they can be told on a
// page's clock, which is read in steps of 100 us there: nine trips of 5 us begin and end in the same step.
const pingsMin = 9;
const pingsMax = 128;
const readableUs = 1000;
// Fewer runs than this say little.
const samplesNeeded = 16;
// A difference smaller than this is not worth a change of code.
const worthFactor = 1.2;

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

/** What the advisor says of one task. Plain data; times in microseconds. */
export interface TaskAdvice {
  task: string;
  /** Where its calls go now: `auto` where that is decided call by call. */
  placement: "auto" | "worker" | "inline";
  calls: number;
  /** The share of them that ran on the caller's thread, 0 to 1. */
  inlineShare: number;
  /** Runs that were measured in workers: what the advice rests on. */
  samples: number;
  /** A run in a worker, on average; undefined while none was measured. */
  runUs: number | undefined;
  /** What a run is not expected to exceed. */
  upperUs: number | undefined;
  /** What the way to a worker and back adds to a call that is made alone. */
  hopUs: number | undefined;
  /** A run on the caller's thread, copies included, where that was measured. */
  inlineUs: number | undefined;
  /** Where it would be best placed; undefined while too little is known. */
  better: "inline" | "worker" | undefined;
  /** How many times faster a call made alone is there than in the other place. */
  factor: number | undefined;
  /** The same in a sentence. */
  advice: string;
}

/** What the advisor says of a pool. `JSON.stringify` gives all of it; `text` is for reading. */
export interface Advice {
  tasks: TaskAdvice[];
  /** What concerns the whole pool: why nothing can run inline. */
  notes: string[];
  text: string;
}

/** What is known of a task, whichever way it was learnt. */
export interface Facts {
  task: string;
  placement: TaskAdvice["placement"];
  /** Whether it may run inline at all: a plain function that holds no resource and was not declared `worker`. */
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

/** Reads off what would be better. Pure. */
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
  if (factor < worthFactor) return say(`${compared}: either place will do`, "worker", factor);
  const gain = `${factor < 10 ? factor.toFixed(1) : Math.round(factor)} times faster inline`;
  if (placement === "inline") return say(`${compared}: ${gain}, where it is`, "inline", factor);
  if (placement === "auto")
    return say(`${compared}: ${gain} when it is called alone, and auto sees to it`, "inline", factor);
  const how = facts.movable
    ? 'mark it placement: "auto"'
    : "but it holds a resource, or says that it belongs in a worker";
  return say(`${compared}: ${gain}; ${how}`, "inline", factor);
}

/** The figures of a task's commonest class of arguments, which stand for the task. */
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

/** All of it, for reading: the widest gains first. */
export function textOf(tasks: readonly TaskAdvice[], notes: readonly string[]): string {
  const gain = ({ factor = 0, placement, better }: TaskAdvice): number => (placement === better ? 0 : factor);
  const sorted = [...tasks].sort((a, b) => gain(b) - gain(a));
  return [...sorted.map(({ advice }) => advice), ...notes].join("\n");
}

function shown(us: number): string {
  if (us < 10) return `${us.toFixed(1)} us`;
  return us < 1000 ? `${Math.round(us)} us` : `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}
