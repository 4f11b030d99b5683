// SPDX-License-Identifier: MIT OR Apache-2.0
// The metrics of a pool. Their names follow the same rules as those of stalls (`instruments.ts`).

/** The part of a pool's `stats()` that the metrics read. Any `Pool` has it. */
export interface PoolSource {
  /** Returns a snapshot of the counters. */
  stats(): {
    readonly workers: {
      readonly size: number;
      readonly ready: number;
      readonly busy: number;
      readonly restarts: number;
    };
    readonly queue: { readonly items: number; readonly bytes: number };
    readonly open: number;
    readonly tasks: Readonly<Record<string, PoolTask>>;
    readonly ledger: Readonly<
      Record<"toWorkers" | "fromWorkers", Readonly<Record<"movedBytes" | "sharedBytes" | "copiedBytes", number>>>
    >;
  };
}

interface PoolTask {
  readonly ok: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly queueUs?: Phase;
  readonly transitUs?: Phase;
  readonly runUs?: Phase;
  readonly returnUs?: Phase;
}

interface Phase {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly number[];
}

/** A snapshot of a pool's counters. */
type PoolCounts = ReturnType<PoolSource["stats"]>;

type PoolSeriesName = keyof typeof poolSeries;

/** Counters only grow. Gauges are the state at the moment of the reading. */
export const poolSeries = {
  workers: {
    kind: "gauge",
    name: "clearway.pool.workers",
    unit: "{worker}",
    description: "Worker threads or processes, by state.",
  },
  restarts: {
    kind: "counter",
    name: "clearway.pool.worker.restarts",
    unit: "{worker}",
    description: "Workers that died or that the pool killed.",
  },
  queued: {
    kind: "gauge",
    name: "clearway.pool.queue.calls",
    unit: "{call}",
    description: "Calls that wait for a worker.",
  },
  queuedBytes: {
    kind: "gauge",
    name: "clearway.pool.queue.size",
    unit: "By",
    description: "Bytes of the arguments of waiting calls.",
  },
  open: {
    kind: "gauge",
    name: "clearway.pool.calls.open",
    unit: "{call}",
    description: "Calls without an answer, with those that wait.",
  },
  calls: {
    kind: "counter",
    name: "clearway.pool.calls",
    unit: "{call}",
    description: "Ended calls, by task and outcome: ok, failed or cancelled.",
  },
  errors: {
    kind: "counter",
    name: "clearway.pool.errors",
    unit: "{call}",
    description: "Failed and cancelled calls, by task and code. Errors of the task itself have the code task.",
  },
  bytes: {
    kind: "counter",
    name: "clearway.pool.memory",
    unit: "By",
    description: "Bytes of binary memory that crossed, by direction and by how: moved, shared or copied.",
  },
} as const satisfies Record<string, { kind: "gauge" | "counter"; name: string; unit: string; description: string }>;

/** The histogram of a call's phases: queue, transit, run and return. Only of pools with the option `metrics`. */
export const callDuration = {
  name: "clearway.pool.call.duration",
  unit: "s",
  description:
    "Time of the phases of calls, by task and phase: in the queue, to the worker, in the task, back to the caller.",
} as const;

/** Upper bounds of its buckets, in seconds: 16 us, and then four times the bound before, up to 16.8 s. */
export const callBoundsS: readonly number[] = Array.from({ length: 11 }, (_, at) => 4 ** (at + 2) / 1e6);

/** The phases, by the names of their fields. */
export const phases = { queueUs: "queue", transitUs: "transit", runUs: "run", returnUs: "return" } as const;

/** The labels that the series themselves have. */
export const poolLabels: readonly string[] = ["state", "task", "outcome", "code", "direction", "how", "phase"];

export type Attributes = readonly (readonly [name: string, value: string])[];

/** The values of a pool's counters and gauges, as they are now. */
export function poolValues({
  workers,
  queue,
  open,
  tasks,
  ledger,
}: PoolCounts): [series: PoolSeriesName, attributes: Attributes, value: number][] {
  const values: [PoolSeriesName, Attributes, number][] = [
    ["workers", [["state", "ready"]], workers.ready],
    ["workers", [["state", "busy"]], workers.busy],
    ["workers", [["state", "all"]], workers.size],
    ["restarts", [], workers.restarts],
    ["queued", [], queue.items],
    ["queuedBytes", [], queue.bytes],
    ["open", [], open],
  ];
  for (const [task, { ok, failed, cancelled, errors }] of Object.entries(tasks)) {
    for (const [outcome, count] of Object.entries({ ok, failed, cancelled }))
      values.push([
        "calls",
        [
          ["task", task],
          ["outcome", outcome],
        ],
        count,
      ]);
    for (const [code, count] of Object.entries(errors))
      values.push([
        "errors",
        [
          ["task", task],
          ["code", code],
        ],
        count,
      ]);
  }
  for (const [direction, side] of Object.entries({ to_workers: ledger.toWorkers, from_workers: ledger.fromWorkers }))
    for (const [how, bytes] of Object.entries({
      moved: side.movedBytes,
      shared: side.sharedBytes,
      copied: side.copiedBytes,
    }))
      values.push([
        "bytes",
        [
          ["direction", direction],
          ["how", how],
        ],
        bytes,
      ]);
  return values;
}

/** The histograms of a pool's calls, by task and phase. */
export function poolHistograms({ tasks }: PoolCounts): [attributes: Attributes, phase: Phase][] {
  const found: [Attributes, Phase][] = [];
  for (const [task, times] of Object.entries(tasks))
    for (const [field, name] of Object.entries(phases)) {
      const phase = times[field as keyof typeof phases];
      if (phase && phase.count > 0)
        found.push([
          [
            ["task", task],
            ["phase", name],
          ],
          phase,
        ]);
    }
  return found;
}
