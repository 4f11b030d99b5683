// SPDX-License-Identifier: MIT OR Apache-2.0
// The messages between the lab and a runner, one JSON object per line. docs/lab/runner-protocol.md has explanations and examples.

export const PROTOCOL_VERSION = 1;

/** The hosts whose runners belong to the lab. */
export type OwnHost = "node" | "chromium" | "firefox" | "webkit" | "jvm" | "flutter" | "swift";
/** A host: one of the lab's own, or the name that the user gave to another runner. */
export type HostName = OwnHost | (string & {});
/** Something for some of the hosts. */
export type ByHost<T> = Record<string, T>;
export type Params = Record<string, string | number>;
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A cell to measure: a mechanism with its parameters. */
export interface CellRequest {
  family: string;
  scenario: string;
  mechanism: string;
  params: Params;
  /** The expected result, from the scenario file. The runner compares the results and reports an error for a wrong one. */
  expected: Json;
}

/** One measurement of several mechanisms in interleaved rounds, in a new process or page. The probe defines the answer's form. */
export interface ProbeRequest {
  name: string;
  params: Json;
}

export type Request =
  | { id: number; op: "describe" }
  | { id: number; op: "verify"; cell: CellRequest }
  | { id: number; op: "measure"; cell: CellRequest }
  | { id: number; op: "probe"; probe: ProbeRequest };

export type Unit = "us" | "ms" | "ms/s" | "frames" | "count" | "events" | "events/s" | "MB/s" | "ms/MB" | "bytes" | "%";

/** The samples of one round: an HdrHistogram V2 (compressed, base64) of nanoseconds. Reports show them in `unit`. */
export interface SampleSet {
  unit: "us" | "ms";
  n: number;
  hdr: string;
  /**
   * The number of calls per sample: the calls are timed together, and the sample is their mean. Absent for 1. The effect of a clock step
   * is divided by this number.
   */
  batch?: number;
  /**
   * Every value in nanoseconds, if there are at most 64. A reader can then see each of them. A runner without a library for histograms may
   * send up to 100 000 values and leave `hdr` out: the lab then adds it.
   */
  raw?: number[];
}

export interface Value {
  unit: Unit;
  value: number;
}

/** The stalls of one measured call, in milliseconds. `at` is the start of a stall, counted from the start of the call. */
export interface Timeline {
  totalMs: number;
  stalls: { at: number; ms: number }[];
}

export interface Measurement {
  samples: Record<string, SampleSet>;
  values: Record<string, Value>;
  timeline?: Timeline;
  /** The work's result, already compared with the cell's `expected`. */
  result: Json;
  /** Remarks for the reader, for example "never settled after a crash". */
  notes: string[];
}

export interface Verification {
  verified: true;
  result: Json;
}

export interface Description {
  protocol: number;
  host: HostName;
  /** Name and version of the runtime, for example "Node v20.20.0" or "Chromium 156.0". */
  runtime: string;
  /** The part that is new for each measurement: the process, or the page's renderer process. The JVM host keeps a JVM for each work. */
  fresh: "process" | "renderer process" | "JVM for each work";
  crossOriginIsolated: boolean;
  /** The smallest observed step between two readings of the samples' clock, in microseconds. */
  clockStepUs: number;
  /** The mechanisms of this host. `unavailable` is the reason why one cannot run here, and the remedy. */
  mechanisms: { scenario: string; mechanism: string; unavailable?: string }[];
}

export type Response =
  | { id: number; ok: true; result: Description | Verification | Measurement | Json }
  | { id: number; ok: false; error: { message: string; stack?: string } };
