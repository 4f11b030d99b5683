// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers the engine's requests with one open mechanism. The same in Node and in a page; each host passes its clocks.
import { type ArmReply, type ArmRequest, WARM_ELAPSED } from "../protocol/arm.js";
import type { OpenMechanism } from "./work.js";

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
