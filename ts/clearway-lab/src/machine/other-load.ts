// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how many cores other programs use during a run: reads the machine's CPU times while the lab rests between measurements.
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Length of one rest in milliseconds: twenty steps of a CPU clock that counts in 10 ms. */
const REST_MS = 200;
/** Measurements between two rests. A quick run rests about 25 times, which takes 2 % of its time. */
const MEASUREMENTS_PER_REST = 25;

/** What the machine tells. Tests replace it. */
export interface LoadSource {
  /** Returns the time for which all CPUs have worked since the machine's start, in milliseconds. */
  busyMs(): number;
  nowMs(): number;
  rest(ms: number): Promise<unknown>;
}

const MACHINE: LoadSource = {
  busyMs: () => os.cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0),
  nowMs: () => performance.now(),
  rest: (ms) => sleep(ms),
};

/** One rest: how long it was, and how long the CPUs worked meanwhile, in milliseconds. */
export interface Rest {
  ms: number;
  busyMs: number;
}

export class OtherLoad {
  readonly #source: LoadSource;
  #busyMs = 0;
  #restedMs = 0;
  #measurements = 0;

  constructor(source: LoadSource = MACHINE) {
    this.#source = source;
  }

  /**
   * Call before each measurement. Rests 200 ms before the first and then before every 25th, and reads the CPU times. Returns the rest, if
   * there was one.
   */
  async beforeMeasurement(): Promise<Rest | undefined> {
    if (this.#measurements++ % MEASUREMENTS_PER_REST !== 0) return undefined;
    const [busyMs, nowMs] = [this.#source.busyMs(), this.#source.nowMs()];
    await this.#source.rest(REST_MS);
    const rest = { ms: this.#source.nowMs() - nowMs, busyMs: this.#source.busyMs() - busyMs };
    this.add(rest);
    return rest;
  }

  /** Adds a rest of the same run, from before its interruption. */
  add({ ms, busyMs }: Rest): void {
    this.#restedMs += ms;
    this.#busyMs += busyMs;
  }

  /** Returns the mean number of cores that other programs used, to two decimals. Undefined before the first rest. */
  cores(): number | undefined {
    if (this.#restedMs <= 0) return undefined;
    return Number(Math.max(0, this.#busyMs / this.#restedMs).toFixed(2));
  }
}

/** Returns the fact that a run adds to those of its machine. Empty if the run made no measurement. */
export function withOtherCores(load: OtherLoad): { otherCores?: number } {
  const otherCores = load.cores();
  return otherCores === undefined ? {} : { otherCores };
}
