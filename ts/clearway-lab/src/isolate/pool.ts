// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a pool with one worker: its start, warm calls, and calls after idle time.
import * as Comlink from "comlink";
import { hostName, nowMs, openWorker, workerUrl } from "#lab-host";
import { type Measured, type Mechanism, numberParam, WARM_UP_CUT } from "../protocol/measured.js";
import type { Value } from "../protocol/message.js";
import { clockStepUs, warmUp } from "../statistics/warm-up.js";
import type { ComlinkPool } from "../work/pool-comlink.js";
import type { PoolTask } from "./pool-task.js";

/** A pool with one worker, made as each library makes it. If `start` is lazy, the first call includes the start. */
export interface PoolUnderTest {
  start(): void | Promise<void>;
  call(task: PoolTask): Promise<number>;
  close(): Promise<void>;
}

/** Time that a pool gets to become ready before its first task, in milliseconds. */
const READY_MS = 100;
/** Time that a call or a close may stay pending, in milliseconds. It is ten times the start of a worker. */
const SETTLE_MS = 500;

/**
 * Minimum number of clock steps in a sample. A sample has as many calls as it needs for that. A page's clock has steps of 5 us,
 * and a call takes about as long.
 */
const CLOCK_STEPS_MIN = 20;

export function poolMechanism(make: () => Promise<PoolUnderTest>): Mechanism {
  return async ({ params }) => {
    const task: PoolTask = { connection: "none", port: 0, value: 20 };
    const notes: string[] = [];
    const values: Record<string, Value> = {};
    const pool = await make();
    values["coldStart"] = ms(
      await elapsedMs(async () => {
        await pool.start();
        await checkAnswer(pool.call(task));
      }),
    );
    const call = () => checkAnswer(pool.call(task));
    const { warm: isWarm, ms: warmUpMs, perCallMs } = await warmUp(call, numberParam(params, "warmUpMs"), nowMs);
    values["warmUp"] = ms(warmUpMs);
    if (!isWarm) values[WARM_UP_CUT] = ms(warmUpMs);
    const batch = Math.max(1, Math.ceil((CLOCK_STEPS_MIN * clockStepUs(nowMs)) / (perCallMs * 1000)));
    const warm = await timeCalls(numberParam(params, "calls"), 0, call, batch);
    const idle = await timeCalls(numberParam(params, "idleCalls"), numberParam(params, "idleMs"), call);
    const samples: Measured["samples"] = {
      warmTask: { unit: "us", ns: warm, batch },
      afterIdle: { unit: "us", ns: idle },
    };
    if ((await outcomeOf(pool.close())) === "pending") notes.push(`the pool had not closed after ${SETTLE_MS} ms`);
    const secondPool = await make();
    await secondPool.start();
    await sleep(READY_MS);
    let answer = 0;
    values["firstTask"] = ms(
      await elapsedMs(async () => {
        answer = await checkAnswer(secondPool.call(task));
      }),
    );
    if ((await outcomeOf(secondPool.close())) === "pending")
      notes.push(`the second pool had not closed after ${SETTLE_MS} ms`);
    return {
      samples,
      values,
      result: { answer },
      notes,
    };
  };
}

/** Checks that a call added one to 20. Throws for any other answer: a pool with wrong answers is not measured. */
async function checkAnswer(answer: Promise<number>): Promise<number> {
  const value = await answer;
  if (value !== 21) throw new Error(`the pool answered wrongly: value=${value}, expected 21`);
  return value;
}

async function outcomeOf(call: Promise<unknown>): Promise<"resolved" | "rejected" | "pending"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<"pending">((resolve) => {
    timer = setTimeout(() => resolve("pending"), SETTLE_MS);
  });
  const outcome = call.then(
    () => "resolved" as const,
    () => "rejected" as const,
  );
  return Promise.race([outcome, timeout]).finally(() => clearTimeout(timer));
}

async function timeCalls(count: number, gapMs: number, call: () => Promise<unknown>, batch = 1): Promise<Float64Array> {
  const ns = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    if (gapMs > 0) await sleep(gapMs);
    const begin = nowMs();
    for (let j = 0; j < batch; j++) await call();
    ns[i] = ((nowMs() - begin) * 1e6) / batch;
  }
  return ns;
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const begin = nowMs();
  await work();
  return nowMs() - begin;
}

function ms(value: number): Value {
  return { unit: "ms", value };
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((done) => setTimeout(done, delayMs));
}

/** A hand-written pool with ids and a map of pending calls. It starts a new worker when the old one has ended. */
export async function bareWorker(): Promise<PoolUnderTest> {
  const pending = new Map<number, { resolve(value: number): void; reject(error: Error): void }>();
  let nextId = 0;
  let closing = false;
  let worker = undefined as ReturnType<typeof openWorker> | undefined;
  const open = () => {
    worker = openWorker("pool-bare");
    worker.listen((message) => {
      const { id, value } = message as { id: number; value: number };
      pending.get(id)?.resolve(value);
      pending.delete(id);
    });
    worker.onEnd(() => {
      for (const { reject } of pending.values()) reject(new Error("the worker ended"));
      pending.clear();
      if (!closing) open();
    });
  };
  return {
    start: open,
    call: (task) =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        pending.set(id, { resolve, reject });
        worker!.post({ id, task });
      }),
    close: async () => {
      closing = true;
      await worker!.end();
    },
  };
}

export async function comlinkWorker(): Promise<PoolUnderTest> {
  let worker = undefined as ReturnType<typeof openWorker> | undefined;
  let remote = undefined as Comlink.Remote<ComlinkPool> | undefined;
  let closing = false;
  let fail: (error: Error) => void = () => {};
  let ended = new Promise<never>((_, reject) => (fail = reject));
  const open = () => {
    // Comlink does not detect that a worker has ended. Its documentation leaves that to the user, so this code watches for the
    // exit.
    ended = new Promise<never>((_, reject) => (fail = reject));
    ended.catch(() => {});
    worker = openWorker("pool-comlink");
    remote = Comlink.wrap<ComlinkPool>(worker.endpoint());
    worker.onEnd(() => {
      fail(new Error("the worker ended"));
      if (!closing) open();
    });
  };
  return {
    start: open,
    call: (task) => Promise.race([remote!.run(task), ended]),
    close: async () => {
      closing = true;
      remote![Comlink.releaseProxy]();
      await worker!.end();
    },
  };
}

/** The pool of the package workerpool, which runs in Node and in browsers. */
async function workerpool(): Promise<PoolUnderTest> {
  const { default: library } = await import("workerpool");
  let pool: ReturnType<typeof library.pool>;
  const url = workerUrl("pool-workerpool");
  return {
    start: () => {
      pool = library.pool(
        hostName === "node" ? decodeURIComponent(url.pathname) : url.href,
        hostName === "node"
          ? { maxWorkers: 1, minWorkers: 1, workerType: "thread" }
          : { maxWorkers: 1, minWorkers: 1, workerType: "web", workerOpts: { type: "module" } },
      );
    },
    call: async (task) => (await pool.exec("run", [task])) as number,
    close: async () => {
      await pool.terminate(true);
    },
  };
}

export const pools: Record<string, Mechanism> = {
  "bare-worker": poolMechanism(bareWorker),
  comlink: poolMechanism(comlinkWorker),
  workerpool: poolMechanism(workerpool),
};
