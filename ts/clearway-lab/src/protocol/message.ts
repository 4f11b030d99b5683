// SPDX-License-Identifier: MIT OR Apache-2.0
// What the lab and a runner say to each other: one JSON object a line. Prose and examples: spec/runner-protocol.md.

export const PROTOCOL_VERSION = 1;

export type HostName = "node" | "chromium" | "jvm";
export type Params = Record<string, string | number>;
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** One thing to measure, as it travels to a runner. */
export interface CellRequest {
  family: string;
  scenario: string;
  mechanism: string;
  params: Params;
  /** What the work must yield, from the scenario file; the runner compares and refuses to report a wrong result. */
  expected: Json;
}

export type Request =
  | { id: number; op: "describe" }
  | { id: number; op: "verify"; cell: CellRequest }
  | { id: number; op: "measure"; cell: CellRequest };

export type Unit = "us" | "ms" | "ms/s" | "frames" | "count" | "events" | "events/s" | "MB/s" | "ms/MB" | "bytes" | "%";

/** Samples of one round: an HdrHistogram V2 (compressed, base64) of nanoseconds, to be shown in `unit`. */
export interface SampleSet {
  unit: "us" | "ms";
  n: number;
  hdr: string;
  /** Each sample is the mean of so many, timed as one; absent for 1. A step of the clock is that much finer. */
  batch?: number;
  /** Every value in nanoseconds, where there are few (at most 64), so that a reader can see them. */
  raw?: number[];
}

export interface Value {
  unit: Unit;
  value: number;
}

/** The stalls of one measured call: when each began and how long it lasted, in ms from the start. */
export interface Timeline {
  totalMs: number;
  stalls: { at: number; ms: number }[];
}

export interface Measurement {
  samples: Record<string, SampleSet>;
  values: Record<string, Value>;
  timeline?: Timeline;
  /** What the work yielded, already compared with the cell's `expected`. */
  result: Json;
  /** Remarks a reader should know, e.g. "never settled after a crash". */
  notes: string[];
}

export interface Verification {
  verified: true;
  result: Json;
}

export interface Description {
  protocol: number;
  host: HostName;
  /** E.g. "Node v20.20.0" or "Chromium 156.0". */
  runtime: string;
  /** What is fresh for each measurement: the whole process, or the page's renderer process; or for what it is kept. */
  fresh: "process" | "renderer process" | "JVM for each work";
  crossOriginIsolated: boolean;
  /** The smallest step seen between two readings of the clock the samples are taken with, in microseconds. */
  clockStepUs: number;
  /** `unavailable`: why one cannot run here, and what makes it run. */
  mechanisms: { scenario: string; mechanism: string; unavailable?: string }[];
}

export type Response =
  | { id: number; ok: true; result: Description | Verification | Measurement }
  | { id: number; ok: false; error: { message: string; stack?: string } };
