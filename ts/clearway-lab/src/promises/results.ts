// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds the results of a run of the profile `promises`, in the format of results.json, with warnings for the reader.
import type { BuildFacts, MachineFacts } from "../machine/facts.js";
import type { ByHost } from "../protocol/message.js";
import { machineWarnings } from "../run/machine-warnings.js";
import { RESULTS_VERSION, type ResultCell, type Results } from "../run/results.js";
import type { Warning } from "../run/warning.js";
import type { Collector } from "./collector.js";
import type { PromiseProfile } from "./scenario.js";

/** The libraries whose versions are in the results. */
export const PROMISE_PEERS = [
  "piscina",
  "tinypool",
  "workerpool",
  "poolifier",
  "comlink",
  "capnweb",
  "osra",
  "msgpackr",
  "cbor-x",
  "koffi",
  "@nats-io/transport-node",
];

export interface PromiseRun {
  profile: PromiseProfile;
  seed: number;
  startedAt: string;
  durationMs: number;
  /** Number of planned measurements: one per pair of a scenario and a host. */
  planned: number;
  done: number;
  interrupted: boolean;
  runtimes: ByHost<string>;
  machine: MachineFacts;
  build: BuildFacts;
}

export function promiseResults(run: PromiseRun, { cells, noiseFloor }: Collector): Results {
  const { profile, seed, startedAt, durationMs, planned, done, interrupted, runtimes, machine, build } = run;
  return {
    version: RESULTS_VERSION,
    run: {
      profile,
      seed,
      startedAt,
      durationMs: Math.round(durationMs),
      measurementsPlanned: planned,
      measurementsDone: done,
      interrupted,
      runtimes,
    },
    cells,
    machine,
    build,
    noiseFloor,
    warnings: [
      ...promiseWarnings(run, cells, noiseFloor),
      ...machineWarnings({ machine, build, cells: [], hosts: {} }),
    ],
  };
}

/** The limit for the factor between two measurements of the same thing. Above it, the targets 1.1 and 1.15 are meaningless. */
const NOISE_HIGH = 1.1;

function promiseWarnings(
  { profile, interrupted, planned, done }: PromiseRun,
  cells: readonly ResultCell[],
  noiseFloor: Results["noiseFloor"],
): Warning[] {
  const warnings: Warning[] = [];
  if (interrupted)
    warnings.push({
      code: "interrupted",
      message: `${done} of ${planned} scenarios were measured.`,
      next: "run it again to its end",
    });
  for (const { scenario, host, why } of cells.filter(
    ({ family, status }) => family === "promise" && status === "failed",
  ))
    warnings.push({
      code: "cell-failed",
      message: `${scenario} on ${host}: ${why}`,
      next: "run its scenario alone: clearway lab SCENARIO --profile promises",
    });
  for (const { host, params, mechanism, ratio } of noiseFloor.filter(({ ratio }) => ratio > NOISE_HIGH))
    warnings.push({
      code: "noise-high",
      message: `${noisePairText(mechanism, params)} differed by a factor of ${ratio} (${host}): ratios closer to 1 than that mean nothing.`,
      next: "close other programs, or use --profile promises-full",
    });
  if (profile === "promises")
    warnings.push({
      code: "few-rounds",
      message: "The profile promises has 3 to 15 rounds for most figures: the middle half comes from few numbers.",
      next: "use --profile promises-full",
    });
  return warnings;
}

function noisePairText(mechanism: string, { state, gapMs }: Results["noiseFloor"][number]["params"]): string {
  if (state === undefined) return `The same thing measured twice (${mechanism})`;
  return `Two workers behind the same bare ${mechanism} (${state}, gap ${gapMs} ms)`;
}
