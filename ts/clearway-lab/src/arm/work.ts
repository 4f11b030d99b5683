// SPDX-License-Identifier: MIT OR Apache-2.0
// The work of an arm, and the functions that time it.
import { nowMs } from "#lab-host";

export interface Work {
  /** Number of calls in one run. The warm-up counts calls. */
  readonly calls: number;
  /** Does the work once. Appends the cost of a call in nanoseconds, or of each event. Throws if the result is wrong. */
  run(costsNs: number[]): void | Promise<void>;
}

/** A mechanism that has been opened, with each kind of work that it can do. */
export interface OpenMechanism {
  works: Record<string, Work>;
  close(): unknown;
}

export type OpenArm = () => OpenMechanism | Promise<OpenMechanism>;

/** Times `calls` asynchronous calls, one after another. */
export function timedCalls(call: () => Promise<unknown>, calls = 1): Work {
  return {
    calls,
    async run(costsNs) {
      const from = nowMs();
      for (let i = 0; i < calls; i++) await call();
      costsNs.push(((nowMs() - from) * 1e6) / calls);
    },
  };
}

/** Times `calls` synchronous calls. Choose enough of them: a reading of the clock takes 0.1 us. */
export function timedSync(call: () => unknown, calls: number): Work {
  return {
    calls,
    run(costsNs) {
      const from = nowMs();
      for (let i = 0; i < calls; i++) lastResult = call();
      costsNs.push(((nowMs() - from) * 1e6) / calls);
    },
  };
}

/** Keeps the result of the last call, so that the compiler cannot remove a call whose result is unused. */
let lastResult: unknown;
/** Exported so that the compiler cannot treat `lastResult` as unused. Nothing calls it. */
export const keptResult = (): unknown => lastResult;
