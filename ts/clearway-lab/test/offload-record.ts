// SPDX-License-Identifier: MIT OR Apache-2.0
// A record of the family `offload` on Node and the JVM. Its figures are invented.
import type { HostName, Measurement, Params, Value } from "../src/protocol/message.js";
import type { RecordedCell, RunRecord } from "../src/run/record.js";
import { loadScenarios } from "../src/scenario/load.js";
import type { MechanismInfo } from "../src/scenario/scenario.js";
import { encodeHistogram, histogramOf } from "../src/statistics/histogram.js";
import { SIZES_NS } from "../src/statistics/sizes.js";
import { record } from "./record.js";

const scenarios = loadScenarios().filter(({ family }) => family === "offload");

export const WORKS: { params: Params; ms: Record<string, number> }[] = [
  work("arithmetic", "none", "ascending", { direct: 0.004, piscina: 2, "piscina-tuned": 0.08, "clearway-worker": 0.9 }),
  work("lists", "none", "ascending", { direct: 1, piscina: 3, "piscina-tuned": 1.02, "clearway-worker": 1.6 }),
  work("storage", "blocking", "ascending", { direct: 104, piscina: 40, "piscina-tuned": 15, "clearway-worker": 14.8 }),
  work("network", "async", "ascending", { direct: 550, promises: 10.2, piscina: 170, "piscina-tuned": 10.9 }),
];

export const JVM_WORKS: typeof WORKS = [
  work("arithmetic", "none", "ascending", { direct: 0.001, "virtual-threads": 0.048, "clearway-adaptive": 0.00105 }),
  work("storage", "blocking", "shuffled", { direct: 99, "virtual-threads": 1.62, "clearway-adaptive": 1.7 }),
];

function work(name: string, waits: string, order: string, ms: Record<string, number>) {
  return { params: { work: name, waits, order, actions: 100 }, ms };
}

/** Factors of three rounds that differ by a few percent, as on a quiet machine. */
const NOISE = [1, 1.03, 0.98];

function cell(
  host: HostName,
  scenario: string,
  mechanism: string,
  params: Params,
  rounds: Measurement[],
): RecordedCell {
  const { title, role, settings, place } = infoOf(mechanism);
  return {
    family: "offload",
    scenario,
    host,
    mechanism,
    title,
    role,
    settings,
    ...(place === undefined ? {} : { place }),
    params,
    control: false,
    plannedRounds: rounds.length,
    rounds: rounds.map((measurement, round) => ({
      round,
      position: round,
      tookMs: 300,
      measurement,
      machineStallMs: 0.1,
    })),
  };
}

function infoOf(mechanism: string): MechanismInfo {
  const info = scenarios[0]?.mechanisms.find(({ name }) => name === mechanism);
  if (info === undefined) throw new Error(`no such strategy: ${mechanism}`);
  return info;
}

function measurement(values: Record<string, Value>, batchMs: number[] = []): Measurement {
  const ns = batchMs.map((ms) => ms * 1e6);
  const hdr = encodeHistogram(histogramOf(ns));
  return {
    samples: ns.length === 0 ? {} : { batchTimes: { unit: "ms", n: ns.length, hdr, raw: ns.map(Math.round) } },
    values,
    result: null,
    notes: [],
  };
}

function workRound(ms: number, noise: number, mechanism: string): Measurement {
  const batch = ms * noise;
  const value = (unit: Value["unit"], each: number): Value => ({ unit, value: each });
  const cold = ["direct", "promises"].includes(mechanism) ? batch * 2 : batch + 60;
  return measurement(
    {
      coldBatch: value("ms", cold),
      batch: value("ms", batch),
      perTask: value("us", batch * 10),
      held: value("ms", mechanism === "direct" ? batch : 0.1),
      cpuTime: value("ms", batch / 2),
      peakThreads: value("count", mechanism === "direct" ? 0 : 2),
      allocations: value("count", 101),
      warmBatches: value("count", 12),
      batches: value("count", 3),
    },
    [batch, batch * 1.1, batch * 0.95],
  );
}

function worksOf(host: HostName, works: typeof WORKS): RecordedCell[] {
  return works.flatMap(({ params, ms }) =>
    Object.entries(ms).map(([mechanism, each]) =>
      cell(
        host,
        "works",
        mechanism,
        params,
        NOISE.map((noise) => workRound(each, noise, mechanism)),
      ),
    ),
  );
}

/** A task takes its size divided by the number of threads, plus the cost `hopNs` of crossing to a pool. */
function sizesOf(host: HostName, mechanism: string, hopNs: number, threads: number): RecordedCell {
  const rounds = NOISE.map((noise) =>
    measurement(
      Object.fromEntries(
        Object.entries(SIZES_NS).map(([metric, ns]): [string, Value] => [
          metric,
          { unit: "us", value: ((hopNs + ns / threads) * noise) / 1000 },
        ]),
      ),
    ),
  );
  return cell(host, "sizes", mechanism, { actions: 100, sweepMs: 40 }, rounds);
}

function changingOf(host: HostName, mechanism: string, total: number, recover: number): RecordedCell {
  const values = { before: 0.1, firstAfter: 9, after: 3, firstBack: 0.4, back: 0.1, total };
  const rounds = NOISE.map((noise) =>
    measurement({
      ...Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, { unit: "ms" as const, value: value * noise }]),
      ),
      recover: { unit: "count", value: recover },
      recoverBack: { unit: "count", value: 2 },
    }),
  );
  return cell(host, "changing-site", mechanism, { actions: 20, batches: 12 }, rounds);
}

export function offloadRecord(more: Partial<RunRecord> = {}): RunRecord {
  const { hosts } = record();
  return record({
    hosts: { ...hosts, ...(hosts.node && { jvm: { ...hosts.node, host: "jvm", runtime: "OpenJDK 25" } }) },
    scenarios,
    cells: [
      ...worksOf("node", WORKS),
      sizesOf("node", "direct", 0, 1),
      sizesOf("node", "piscina", 20_000, 2),
      sizesOf("node", "clearway-worker", 1, 1),
      changingOf("node", "direct", 160, 0),
      changingOf("node", "clearway-worker", 40, 3),
      ...worksOf("jvm", JVM_WORKS),
      sizesOf("jvm", "direct", 0, 1),
      sizesOf("jvm", "virtual-threads", 400, 2),
      changingOf("jvm", "direct", 160, 0),
      changingOf("jvm", "clearway-adaptive", 30, 1),
    ],
    ...more,
  });
}
