// SPDX-License-Identifier: MIT OR Apache-2.0
// A small record of a run, for the tests of the report and of the results.
import type { Measurement, Params } from "../src/protocol/message.js";
import { RECORD_VERSION, type RecordedCell, type RunRecord } from "../src/run/record.js";
import { loadScenarios } from "../src/scenario/scenario.js";
import { encodeHistogram, histogramOf } from "../src/statistics/distribution.js";

const scenarios = loadScenarios();

export function measured(values: Record<string, number>, latencyUs: number[] = [], stallMs?: number): Measurement {
  const ms = (value: number) => ({ unit: "ms" as const, value });
  return {
    samples:
      latencyUs.length === 0
        ? {}
        : {
            latency: {
              unit: "us",
              n: latencyUs.length,
              hdr: encodeHistogram(histogramOf(latencyUs.map((us) => us * 1000))),
            },
          },
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, ms(value)])),
    ...(stallMs === undefined ? {} : { timeline: { totalMs: stallMs * 2, stalls: [{ at: 1, ms: stallMs }] } }),
    result: null,
    notes: [],
  };
}

export function cell(
  scenario: string,
  mechanism: string,
  params: Params,
  rounds: Measurement[],
  more: Partial<RecordedCell> = {},
): RecordedCell {
  const { family, mechanisms } = scenarios.find(({ name }) => name === scenario)!;
  const info = mechanisms.find(({ name }) => name === mechanism)!;
  return {
    family,
    scenario,
    host: "node",
    mechanism,
    title: info.title,
    role: info.role,
    settings: info.settings,
    params,
    plannedRounds: rounds.length,
    rounds: rounds.map((measurement, round) => ({
      round,
      position: round,
      tookMs: 100,
      measurement,
      machineStallMs: 0.2,
    })),
    ...more,
  };
}

/** Returns a record. Students are cloned in 500 ms and moved in 2 ms. Streams at 1000/s take 50 and 60 us. One cell cannot run. */
export function record(more: Partial<RunRecord> = {}): RunRecord {
  const rows = { rows: 1_000_000 };
  const load = { perSecond: 1000, count: 1000, payloadBytes: 8, receiver: "idle" };
  const students = (ms: number) => measured({ longestStall: ms, totalRuntime: ms * 2 }, [], ms);
  const stream = (us: number) =>
    measured(
      {},
      Array.from({ length: 1000 }, (_, i) => us + i / 100),
    );
  return {
    version: RECORD_VERSION,
    profile: "published",
    seed: 7,
    startedAt: "2026-01-02T03:04:05.000Z",
    durationMs: 60_000,
    planned: 12,
    done: 12,
    interrupted: false,
    budgetEnded: false,
    machine: {
      os: "Linux 6",
      arch: "x64",
      cpu: "A CPU",
      cores: 8,
      memoryGb: 16,
      governor: "performance",
      virtual: "no sign of one",
      loadBefore: 0.1,
      stealPercent: 0,
    },
    build: {
      lab: "0.1.0",
      clearway: "0.1.0",
      node: "v20",
      v8: "11",
      chromium: null,
      commit: null,
      nodeOptions: "",
      peers: { comlink: "4.4.2" },
    },
    hosts: {
      node: {
        protocol: 1,
        host: "node",
        runtime: "Node v20",
        fresh: "process",
        crossOriginIsolated: true,
        clockStepUs: 0.1,
      },
    },
    cells: [
      cell("students", "worker-clone", rows, [students(500), students(520), students(480)]),
      cell("students", "clearway-records", rows, [students(2), students(2.1), students(1.9)]),
      cell("students", "direct", rows, [students(300), students(310), students(320)]),
      cell("stream", "worker-postmessage", load, [stream(50), stream(52)]),
      cell("stream", "clearway-stream", load, [stream(60), stream(49)]),
      cell("stream", "clearway-ring", load, [], { unavailable: "not built yet: see clearway-stream" }),
    ],
    ...more,
  };
}
