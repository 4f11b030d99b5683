// SPDX-License-Identifier: MIT OR Apache-2.0
// The columns of each scenario's table.
import type { RecordedScenario } from "../run/record.js";
import type { QuantileName } from "../statistics/distribution.js";
import { SIZES_NS } from "../statistics/sizes.js";

export interface Column {
  label: string;
  unit: string;
  metric: string;
  quantile?: QuantileName | "max" | "mean" | "min";
}

const STALLS: Column[] = [
  { label: "total", unit: "ms", metric: "totalRuntime" },
  { label: "longest stall", unit: "ms", metric: "longestStall" },
  { label: "mean lag", unit: "ms", metric: "lagMean" },
  { label: "hitch 60 Hz", unit: "ms/s", metric: "hitchRatio60" },
  { label: "dropped 60", unit: "frames", metric: "droppedFrames60" },
  { label: "dropped 120", unit: "frames", metric: "droppedFrames120" },
];

/**
 * Returns the name of the scenario that has the same figures. The variants of the JVM, of Flutter and of Swift, and the published ones, are separate
 * scenarios with other mechanisms but the same figures.
 */
export function figuresOf(scenario: string): string {
  const name = scenario.replace(/^published-/, "").replace(/-(jvm|flutter|swift)$/, "");
  return SAME_FIGURES[name] ?? name;
}

/** The scenarios of the published experiments that have another scenario's figures. */
const SAME_FIGURES: Record<string, string> = {
  "students-published": "students",
  "fetch-json": "fetch-image",
  "stream-published": "stream",
  "chained-hops": "stream",
  "memset-published": "memset",
  "memset-builds": "memset",
};

/** What a mechanism did with the events, on hosts where some lose or reorder them. */
const KEPT: Column[] = [
  { label: "reordered", unit: "events", metric: "reordered" },
  { label: "lost", unit: "events", metric: "lost" },
];

/** The columns of every scenario of `clearway bench`. */
export const BENCH_COLUMNS: Column[] = [
  { label: "p50", unit: "", metric: "call", quantile: "p50" },
  { label: "p90", unit: "", metric: "call", quantile: "p90" },
  { label: "longest stall", unit: "ms", metric: "longestStall" },
  { label: "hitch 60 Hz", unit: "ms/s", metric: "hitchRatio60" },
  { label: "dropped 60", unit: "frames", metric: "droppedFrames60" },
  { label: "dropped 120", unit: "frames", metric: "droppedFrames120" },
];

/** The figures of an upload. Its table has a column of times for each size of a chunk. */
export const UPLOAD_FIGURES = [
  { label: "time", unit: "ms/MB", metric: "timePerMegabyte" },
  { label: "longest stall", unit: "ms", metric: "longestStall" },
  { label: "dropped 60", unit: "frames", metric: "droppedFrames60" },
] as const satisfies readonly Column[];

/** The figures of calls to other processes. */
const REMOTE: Column[] = [
  { label: "p50", unit: "us", metric: "roundTrip", quantile: "p50" },
  { label: "p99", unit: "us", metric: "roundTrip", quantile: "p99" },
  { label: "in flight", unit: "us", metric: "perCall" },
  { label: "calls", unit: "events/s", metric: "callsPerSecond" },
  { label: "caller's CPU", unit: "us", metric: "callerCpu" },
];

export const COLUMNS: Record<string, Column[]> = {
  students: STALLS,
  "fetch-image": STALLS,
  crossing: [
    { label: "stall p50", unit: "us", metric: "stall", quantile: "p50" },
    { label: "stall max", unit: "us", metric: "stall", quantile: "max" },
    { label: "crossing p50", unit: "us", metric: "crossing", quantile: "p50" },
  ],
  "closed-connection": [
    { label: "cold start", unit: "ms", metric: "coldStart" },
    { label: "after close p50", unit: "us", metric: "afterClose", quantile: "p50" },
    { label: "after close max", unit: "us", metric: "afterClose", quantile: "max" },
    { label: "failed calls", unit: "count", metric: "failedCalls" },
  ],
  "http2-feed": [...STALLS, { label: "throughput", unit: "MB/s", metric: "throughput" }],
  "platform-channel": [
    { label: "p50", unit: "us", metric: "roundTrip", quantile: "p50" },
    { label: "p99", unit: "us", metric: "roundTrip", quantile: "p99" },
    { label: "hop", unit: "us", metric: "hop" },
    { label: "hop's share", unit: "%", metric: "hopShare" },
    { label: "copy's share", unit: "%", metric: "copyShare" },
  ],
  pool: [
    { label: "cold start", unit: "ms", metric: "coldStart" },
    { label: "first task", unit: "ms", metric: "firstTask" },
    { label: "warm p50", unit: "us", metric: "warmTask", quantile: "p50" },
    { label: "warm p99", unit: "us", metric: "warmTask", quantile: "p99" },
    { label: "at once", unit: "us", metric: "callAtOnce", quantile: "p50" },
    { label: "idle p50", unit: "us", metric: "afterIdle", quantile: "p50" },
    { label: "crash", unit: "ms", metric: "afterCrash" },
  ],
  stream: [
    { label: "p10", unit: "us", metric: "latency", quantile: "p10" },
    { label: "p50", unit: "us", metric: "latency", quantile: "p50" },
    { label: "p90", unit: "us", metric: "latency", quantile: "p90" },
    { label: "p99", unit: "us", metric: "latency", quantile: "p99" },
    { label: "max", unit: "us", metric: "latency", quantile: "max" },
    ...KEPT,
  ],
  "growing-queue": [
    { label: "p50", unit: "us", metric: "latency", quantile: "p50" },
    { label: "p99", unit: "us", metric: "latency", quantile: "p99" },
    { label: "max", unit: "us", metric: "latency", quantile: "max" },
    { label: "largest backlog", unit: "events", metric: "backlogMax" },
    { label: "throughput", unit: "events/s", metric: "throughput" },
    ...KEPT,
  ],
  firehose: [
    { label: "throughput", unit: "events/s", metric: "throughput" },
    { label: "largest backlog", unit: "events", metric: "backlogMax" },
    ...[25, 50, 75, 100].map((percent) => ({
      label: `backlog, ${percent} % sent`,
      unit: "events",
      metric: `backlogSent${percent}`,
    })),
  ],
  memset: [
    { label: "p10", unit: "us", metric: "fill", quantile: "p10" },
    { label: "p50", unit: "us", metric: "fill", quantile: "p50" },
    { label: "p90", unit: "us", metric: "fill", quantile: "p90" },
    { label: "max", unit: "us", metric: "fill", quantile: "max" },
  ],
  works: [
    { label: "cold batch", unit: "ms", metric: "coldBatch" },
    { label: "warm batch", unit: "ms", metric: "batch" },
    { label: "per task", unit: "us", metric: "perTask" },
    { label: "CPU time", unit: "ms", metric: "cpuTime" },
    { label: "blocked", unit: "ms", metric: "held" },
    { label: "peak threads", unit: "count", metric: "peakThreads" },
    { label: "allocations", unit: "count", metric: "allocations" },
    { label: "allocated", unit: "bytes", metric: "allocatedBytes" },
  ],
  executors: [
    { label: "minimum", unit: "ms", metric: "batchTimes", quantile: "min" },
    { label: "median", unit: "ms", metric: "batch" },
    { label: "maximum", unit: "ms", metric: "batchTimes", quantile: "max" },
    { label: "per task", unit: "us", metric: "perTask" },
    { label: "threads", unit: "count", metric: "threads" },
    { label: "allocations", unit: "count", metric: "allocations" },
    { label: "allocated", unit: "bytes", metric: "allocatedBytes" },
  ],
  sizes: Object.entries(SIZES_NS).map(([metric]) => ({
    label: metric.replace(/^task(\d+)/, "$1 "),
    unit: "us",
    metric,
  })),
  "changing-site": [
    { label: "all batches", unit: "ms", metric: "total" },
    { label: "computing", unit: "ms", metric: "before" },
    { label: "first waiting", unit: "ms", metric: "firstAfter" },
    { label: "waiting", unit: "ms", metric: "after" },
    { label: "batches to adapt", unit: "count", metric: "recover" },
    { label: "first computing", unit: "ms", metric: "firstBack" },
    { label: "computing again", unit: "ms", metric: "back" },
    { label: "batches to adapt", unit: "count", metric: "recoverBack" },
  ],
  "remote-call": REMOTE,
  "remote-durable": REMOTE,
  codec: [
    { label: "encode", unit: "us", metric: "encode" },
    { label: "decode", unit: "us", metric: "decode" },
    { label: "both", unit: "us", metric: "both" },
    { label: "message", unit: "bytes", metric: "messageBytes" },
    { label: "allocations", unit: "count", metric: "allocations" },
    { label: "allocated", unit: "bytes", metric: "allocatedBytes" },
  ],
};

/** Returns a short name of the figure that compares a scenario's cells. */
export function comparedLabel({ compare }: RecordedScenario): string {
  const names: Record<string, string> = {
    longestStall: "longest stall",
    totalRuntime: "total",
    "warmTask.p50": "warm p50",
    "latency.p50": "p50",
    "fill.p50": "p50",
    "call.p50": "p50",
    "roundTrip.p50": "p50",
    both: "both",
    throughput: "throughput",
    "stall.p50": "stall p50",
    "afterClose.p50": "after close p50",
    "latency.p99": "p99",
    batch: "warm batch",
    task10us: "10 us",
    total: "all batches",
    perCall: "in flight",
  };
  return names[compare] ?? compare;
}
