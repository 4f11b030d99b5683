// SPDX-License-Identifier: MIT OR Apache-2.0
// A record of the scenario `published-executors`. Its figures are invented.
import type { Measurement } from "../../src/protocol/message.js";
import { EXECUTOR_WAYS, EXECUTOR_WORKS, type ExecutorWork } from "../../src/run/executors.js";
import type { RecordedCell, RunRecord } from "../../src/run/record.js";
import { loadScenarios } from "../../src/scenario/scenario.js";
import { encodeHistogram, histogramOf } from "../../src/statistics/distribution.js";
import { record } from "../record.js";

export const scenario = loadScenarios().find(({ name }) => name === "published-executors")!;

/** The time of a way in a round, in milliseconds. Undefined: the way was not measured. */
export type Times = (way: string, work: ExecutorWork, round: number) => number | undefined;

/** Factors of five rounds that differ by half a percent, as on a quiet machine. They differ from way to way. */
const NOISE = [1, 1.005, 0.9975, 1.0025, 0.995];

/** Returns a record in which every way has the same times but those that `times` names. */
export function executorRecord(times: Times, rounds = 5): RunRecord {
  const base = record();
  const cells = EXECUTOR_WORKS.flatMap((work) =>
    scenario.mechanisms.flatMap((info, at): RecordedCell[] => {
      const measured = Array.from({ length: rounds }, (_, round) => {
        const ms = times(info.name, work, round);
        // The authors' bound on network is 1 %, which the noise must not exceed.
        const noise = (NOISE[(round + at) % NOISE.length]! - 1) / (work === "network" ? 10 : 1);
        return ms === undefined ? [] : [{ round, ms: ms * (1 + noise) }];
      }).flat();
      if (measured.length === 0) return [];
      const { name, title, role, settings, published, place } = info;
      return [
        {
          family: "offload",
          scenario: "published-executors",
          host: "jvm",
          mechanism: name,
          title,
          role,
          settings,
          ...(published === undefined ? {} : { published }),
          ...(place === undefined ? {} : { place }),
          params: { work, actions: 100 },
          plannedRounds: rounds,
          rounds: measured.map(({ round, ms }) => ({
            round,
            position: round,
            tookMs: 100,
            measurement: measurement(ms, round),
            machineStallMs: 0.1,
          })),
        },
      ];
    }),
  );
  const jvm = { ...base.hosts.node!, host: "jvm", runtime: "OpenJDK 25" };
  return {
    ...base,
    hosts: { jvm },
    cells,
    planned: cells.length * rounds,
    done: cells.length * rounds,
  };
}

/** A round of three runs around `ms`. The first round also has the counts. */
function measurement(ms: number, round: number): Measurement {
  const raw = [ms, ms * 1.5, ms * 0.9].map((each) => Math.round(each * 1e6));
  return {
    samples: { batchTimes: { unit: "ms", n: 3, hdr: encodeHistogram(histogramOf(raw)), raw } },
    values: {
      batch: { unit: "ms", value: ms },
      warmBatches: { unit: "count", value: 4 },
      ...(round === 0 ? { threads: { unit: "count", value: 2 }, allocations: { unit: "count", value: 700 } } : {}),
    },
    result: { done: 100 },
    notes: [],
  } as Measurement;
}

/** Times that agree with each of the authors' findings. */
export const AUTHORS: Times = (way, work) => {
  const { framework, threads, isLimited } = EXECUTOR_WAYS.find(({ name }) => name === way) ?? {};
  // Of the lab's own ways, one is compared with a published one.
  if (framework === undefined) return way === "coroutines-launch-default" && work === "lists" ? 0.5 : 5;
  if (way === "direct" && work === "arithmetic") return 0.01;
  const limited = isLimited ? 1.6 : 1;
  // On a thread an action, RxJava is before coroutines, and coroutines before Flow. On one thread, coroutines are before RxJava.
  const second = threads === "each" ? "coroutines" : "RxJava";
  const place = framework === second ? 1 : framework === "Flow" ? 2 : 0;
  if (work === "arithmetic" || work === "lists") {
    const pool =
      way === "work-stealing" && work === "lists"
        ? 0.05
        : way === "work-stealing-100"
          ? 1.5
          : framework === "executor"
            ? 1.2
            : 1;
    // On lists, coroutines and Flow are slow on as many threads as cores, and slower on more.
    const isSlow = threads === "each" || (threads === "cores" && framework === "coroutines");
    return 0.7 * [1, 1.4, 3][place]! * limited * pool * (isSlow && work === "lists" ? 1.5 : 1);
  }
  const column = threads === "one" ? 100 : threads === "cores" ? 40 : 10;
  const places = work === "network" ? [1, 1.002, 1.004] : [1, 1.09, 1.19];
  return column * places[place]! * limited * (way === "work-stealing-100" && work === "mixed" ? 0.5 : 1);
};
