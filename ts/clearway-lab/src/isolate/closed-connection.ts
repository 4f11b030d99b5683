// SPDX-License-Identifier: MIT OR Apache-2.0
// A worker holds a connection that its server closes while idle. Measures the next call: its time, and whether it fails. Node only.
import { pool as openPool } from "clearway";
import { nowMs, openWorker, workerUrl } from "#lab-host";
import { IDLE_CLOSE_MS, type Mechanism, numberParam } from "../protocol/measured.js";
import { bareWorker, type PoolUnderTest } from "./pool.js";
import { piscina } from "./pool-peers.js";
import type { PoolTask } from "./pool-task.js";

/** Idle time before a call, in milliseconds. The server has long closed the connection then, and the worker has read that. */
const IDLE_MS = 4 * IDLE_CLOSE_MS;
/** A call that fails is repeated as often. A pool that never recovers would otherwise end no measurement. */
const ATTEMPTS_MAX = 5;

function closedConnection(make: () => Promise<PoolUnderTest>): Mechanism {
  return async ({ params, fixture }) => {
    // Clearway's resource opens its connection at this port. Workers inherit the environment.
    process.env["CLEARWAY_LAB_ECHO_PORT"] = String(fixture.idlePort);
    const task: PoolTask = { connection: "held", port: fixture.idlePort, value: 20 };
    const pool = await make();
    const begin = nowMs();
    await pool.start();
    try {
      await pool.call(task);
      const firstTask = nowMs() - begin;
      const ns: number[] = [];
      let failed = 0;
      let answer = 0;
      for (let i = 0; i < numberParam(params, "calls"); i++) {
        await new Promise((done) => setTimeout(done, IDLE_MS));
        const called = nowMs();
        for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
          try {
            answer = await pool.call(task);
            break;
          } catch (error) {
            failed++;
            if (attempt === ATTEMPTS_MAX - 1) throw error;
          }
        }
        ns.push((nowMs() - called) * 1e6);
      }
      return {
        samples: { afterClose: { unit: "us", ns } },
        values: { coldStart: { unit: "ms", value: firstTask }, failedCalls: { unit: "count", value: failed } },
        result: { answer },
      };
    } finally {
      await pool.close();
    }
  };
}

/** A new worker for each call, as the authors start an isolate for each piece of work. */
async function spawnEach(): Promise<PoolUnderTest> {
  return {
    start: () => {},
    call: (task) =>
      new Promise((resolve, reject) => {
        const worker = openWorker("pool-bare");
        worker.onEnd(() => reject(new Error("the worker ended")));
        worker.listen((message) => {
          resolve((message as { value: number }).value);
          void worker.end();
        });
        worker.post({ id: 0, task });
      }),
    close: async () => {},
  };
}

async function leasedConnection(): Promise<PoolUnderTest> {
  const make = () => openPool<typeof import("../work/closed-tasks.js")>(workerUrl("closed-tasks"), { size: 1 });
  let workers: ReturnType<typeof make>;
  return {
    start: () => {
      workers = make();
    },
    call: (task) => workers.call.ask(task),
    close: () => workers.close(),
  };
}

export const closedConnections: Record<string, Mechanism> = {
  "spawn-each": closedConnection(spawnEach),
  "bare-worker": closedConnection(bareWorker),
  piscina: closedConnection(piscina),
  clearway: closedConnection(leasedConnection),
};
