// SPDX-License-Identifier: MIT OR Apache-2.0
// The work of an arm, the functions that time it, and the answers to the engine's requests for it.
import { nowMs } from "#lab-host";
import { type ArmReply, type ArmRequest, WARM_ELAPSED } from "../protocol/arm.js";

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

// Answers the engine's requests with one open mechanism. The same in Node and in a page; each host passes its clocks.

export interface ArmClock {
  nowMs(): number;
  /** Returns the processor time of this process so far, in milliseconds. Where a host cannot tell, it returns `nowMs()`. */
  cpuMs(): number;
}

/** Answers one request. Never rejects: a failure is an answer. */
export async function answer(opened: OpenMechanism, request: ArmRequest, clock: ArmClock): Promise<ArmReply> {
  try {
    if (request.op === "end") {
      // Some pools never finish closing when nothing else keeps their process alive. The process exits after the answer.
      await Promise.race([opened.close(), new Promise((done) => setTimeout(done, CLOSE_MS))]);
      return { ended: true };
    }
    const work = Object.hasOwn(opened.works, request.work) ? opened.works[request.work] : undefined;
    if (work === undefined)
      throw new RangeError(`no such work: work=${request.work} (${Object.keys(opened.works).join(", ")})`);
    const costsNs: number[] = [];
    const [from, cpuFrom] = [clock.nowMs(), clock.cpuMs()];
    let runs = 0;
    const goesOn =
      request.op === "warm"
        ? () =>
            runs * work.calls < request.calls &&
            clock.cpuMs() - cpuFrom < request.cpuMs &&
            clock.nowMs() - from < request.cpuMs * WARM_ELAPSED
        : () => runs < request.runs || clock.nowMs() - from < request.ms;
    do {
      const run = work.run(costsNs);
      // Synchronous work is not awaited, because that would add a microtask.
      if (run !== undefined) await run;
      runs++;
      if (request.op === "warm") costsNs.length = 0;
    } while (goesOn());
    return { costsNs, calls: runs * work.calls, cpuMs: clock.cpuMs() - cpuFrom };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

const CLOSE_MS = 500;
