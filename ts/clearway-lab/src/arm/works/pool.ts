// SPDX-License-Identifier: MIT OR Apache-2.0
// Small calls to a pool of one worker: one after another, a thousand at once, after a rest, and the first one with the start.
import { hostName, nowMs } from "#lab-host";
import { openClearway } from "../../isolate/clearway.js";
import { bareWorker, comlinkWorker, type PoolUnderTest } from "../../isolate/pool.js";
import { piscinaTuned } from "../../isolate/pool-peers.js";
import { type OpenArm, timedCalls, type Work } from "../work.js";

const TASK = { connection: "none", port: 0, value: 20 } as const;
/** A page's clock has steps of 5 us, and a call takes about as long. */
const CALLS = hostName === "node" ? 1 : 20;
const AT_ONCE = 1000;
/** Rests before a call, in milliseconds. */
const RESTS = { "after-short-rest": 2, "after-rest": 10 };

async function checkedCall(pool: PoolUnderTest): Promise<void> {
  const answer = await pool.call(TASK);
  if (answer !== 21) throw new Error(`the pool answered wrongly: value=${answer}, expected 21`);
}

function works(pool: PoolUnderTest): Record<string, Work> {
  const call = () => checkedCall(pool);
  const burst = () => Promise.all(Array.from({ length: AT_ONCE }, call));
  const lone = timedCalls(call);
  return {
    call: timedCalls(call, CALLS),
    "at-once": {
      calls: AT_ONCE,
      async run(costsNs) {
        const from = nowMs();
        await burst();
        costsNs.push(((nowMs() - from) * 1e6) / AT_ONCE);
      },
    },
    ...Object.fromEntries(
      Object.entries(RESTS).map(([name, restMs]): [string, Work] => [
        name,
        {
          calls: 1,
          async run(costsNs) {
            await new Promise((done) => setTimeout(done, restMs));
            await lone.run(costsNs);
          },
        },
      ]),
    ),
  };
}

/** The arm of a pool. Opens the pool on the first `start`; the other kinds of work find it open. */
export const arm =
  (make: () => Promise<PoolUnderTest>): OpenArm =>
  async () => {
    const pool = await make();
    const own = works(pool);
    let started = false;
    const start = async (): Promise<void> => {
      if (started) return;
      started = true;
      await pool.start();
    };
    const opened = Object.entries(own).map(([name, work]): [string, Work] => [
      name,
      {
        calls: work.calls,
        run: (costsNs) => (started ? work.run(costsNs) : start().then(() => work.run(costsNs))),
      },
    ]);
    return {
      works: {
        ...Object.fromEntries(opened),
        start: {
          calls: 1,
          async run(costsNs) {
            if (started) throw new Error("a pool starts once: ask a new arm");
            const from = nowMs();
            await start();
            await checkedCall(pool);
            costsNs.push((nowMs() - from) * 1e6);
          },
        },
      },
      close: () => pool.close(),
    };
  };

export const clearway: OpenArm = arm(() => openClearway("auto"));
export const clearwayPort: OpenArm = arm(() => openClearway("port"));
export const bare: OpenArm = arm(bareWorker);
export const comlink: OpenArm = arm(comlinkWorker);

// The pools of libraries that exist in Node only. A file of its own, so that no other arm loads them.

export const piscina: OpenArm = arm(piscinaTuned);
