// SPDX-License-Identifier: MIT OR Apache-2.0
// The messages between the engine and an arm. An arm is a process (or a page) that has one mechanism, warmed up and asleep, until it is asked
// for a slice of work. Each message is one line of JSON. An arm answers `ready` when its mechanism is open, and then each request in turn.

export type ArmRequest =
  /** Do the work until it has made `calls` calls, or used `cpuMs` milliseconds of processor time, or three times that has passed. */
  | { op: "warm"; work: string; calls: number; cpuMs: number }
  /** Do the work until `ms` milliseconds have passed and at least `runs` runs have ended. */
  | { op: "slice"; work: string; ms: number; runs: number }
  /** Close the mechanism and exit. */
  | { op: "end" };

/** A warm-up takes at most this many times its processor time, so that an arm that waits, or shares its cores, ends it, too. */
export const WARM_ELAPSED = 3;

export type ArmReply =
  | { ready: true }
  /** `costsNs` has the cost of every run of a slice, in nanoseconds per call or per event. `cpuMs` is the processor time of the request. */
  | { costsNs: number[]; calls: number; cpuMs: number }
  | { ended: true }
  | { failed: string };

/** A slice or a warm-up, as an arm answers it. */
export type Costs = Extract<ArmReply, { costsNs: number[] }>;

/** An arm, as the engine uses it. Every method rejects if the arm fails, ends or stays silent. */
export interface Arm {
  warm(work: string, calls: number, cpuMs: number): Promise<Costs>;
  slice(work: string, ms: number, runs: number): Promise<Costs>;
  /** Lets all threads of the arm run on these cores. Does nothing where threads cannot be pinned. */
  pin(cores: Cores): void;
  /** Ends the arm. Never rejects. */
  end(): Promise<void>;
}

/** `one`: all threads on one core. `two`: the main thread on one core, all others on a second one. `free`: anywhere on these two cores. */
export type Cores = "one" | "two" | "free";
