// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiment "Which executor" as data: its sixteen ways, its five works, and the times of a run.

import type { Times } from "../statistics/rounds.js";
import { byRound, type RecordedCell, type RunRecord } from "./record.js";

/** The scenario of the experiment. */
export const PUBLISHED_EXECUTORS = "published-executors";

/** The columns of the table. They are the values of the parameter `work`. */
export const EXECUTOR_WORKS = ["arithmetic", "lists", "storage", "network", "mixed"] as const;
export type ExecutorWork = (typeof EXECUTOR_WORKS)[number];

/** The compared figure of a cell: the median of a round's runs, in milliseconds. */
const METRIC = "batch";

export interface ExecutorWay {
  /** The mechanism's name. */
  name: string;
  framework: "none" | "RxJava" | "coroutines" | "Flow" | "executor";
  /** The threads that run the actions: the calling thread or one other, as many as there are cores, or one for each action. */
  threads: "one" | "cores" | "each";
  /** Whether the way is the variant with the limited dispatcher. */
  isLimited?: true;
}

/** The sixteen ways, in the order of the published table. */
export const EXECUTOR_WAYS: readonly ExecutorWay[] = [
  { name: "direct", framework: "none", threads: "one" },
  { name: "rxjava-single", framework: "RxJava", threads: "one" },
  { name: "coroutines-blocking", framework: "coroutines", threads: "one" },
  { name: "flow", framework: "Flow", threads: "one" },
  { name: "rxjava-computation", framework: "RxJava", threads: "cores" },
  { name: "coroutines-default", framework: "coroutines", threads: "cores" },
  { name: "coroutines-default-limited", framework: "coroutines", threads: "cores", isLimited: true },
  { name: "flow-default", framework: "Flow", threads: "cores" },
  { name: "flow-default-limited", framework: "Flow", threads: "cores", isLimited: true },
  { name: "fixed-pool", framework: "executor", threads: "cores" },
  { name: "work-stealing", framework: "executor", threads: "cores" },
  { name: "rxjava-io", framework: "RxJava", threads: "each" },
  { name: "coroutines-io", framework: "coroutines", threads: "each" },
  { name: "flow-io", framework: "Flow", threads: "each" },
  { name: "fixed-100", framework: "executor", threads: "each" },
  { name: "work-stealing-100", framework: "executor", threads: "each" },
];

/** The part of a record that the experiment reads. */
export type MeasuredRun = Pick<RunRecord, "cells" | "hosts">;

/** Returns the measured cells of a work. */
export function executorCells({ cells }: MeasuredRun, work: ExecutorWork): RecordedCell[] {
  return cells.filter(
    (cell) => cell.scenario === PUBLISHED_EXECUTORS && cell.params["work"] === work && cell.rounds.length > 0,
  );
}

/** Returns the time of every round in milliseconds, by way. */
export function executorTimes(record: MeasuredRun, work: ExecutorWork): Times {
  return new Map(executorCells(record, work).map((cell) => [cell.mechanism, byRound(record, cell, METRIC)]));
}
