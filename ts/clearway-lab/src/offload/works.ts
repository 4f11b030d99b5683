// SPDX-License-Identifier: MIT OR Apache-2.0
// Scenario works: one strategy runs batches of one kind of work, first with a new pool, then with a warm one.
import { allocatedBy, nowMs } from "#lab-host";
import type { WarmUp } from "../mechanism/warm-up.js";
import { type Measured, type Mechanism, numberParam, textParam, WARM_UP_CUT } from "../protocol/measured.js";
import { median } from "../statistics/compare.js";
import { WarmUpDetector } from "../statistics/warm-up-detector.js";
import { type ActionName, actions, NETWORK_VARIABLE } from "./action.js";
import { type BatchWork, closeWithTimeout, timeBatch, timeBatches } from "./batches.js";
import { seedsInOrder } from "./seeds.js";
import type { BatchExecutor, Strategy, WaitKind } from "./strategy.js";
import { threadCount, watchThreadCount } from "./threads.js";

/** Maximum number of warm-up batches. Only batches of microseconds reach it; strategies that learn have then learnt. */
const WARM_BATCHES_MAX = 600;

const COMPUTE_ACTIONS: readonly string[] = ["arithmetic", "lists"] satisfies ActionName[];

/** Returns whether the work computes without waiting. Only such work gets faster with repetition. */
const isComputeWork = ({ name }: BatchWork): boolean => COMPUTE_ACTIONS.includes(name);

/** Batches longer than this, in milliseconds, are timed once instead of twice. Their actions wait in turn, so they vary little. */
const LONG_BATCH_MS = 250;

export function worksMechanism(strategy: Strategy): Mechanism {
  return async ({ params }) => {
    process.env[NETWORK_VARIABLE] = String(numberParam(params, "networkUs"));
    const waits = textParam(params, "waits") as WaitKind;
    const name = textParam(params, "work") + (waits === "async" ? "Async" : "");
    if (!Object.hasOwn(actions, name)) throw new RangeError(`no such work: work=${name}`);
    const args = seedsInOrder(textParam(params, "order"), numberParam(params, "actions"));
    const work = { name: name as ActionName, args, checksum: numberParam(params, "checksum") };
    const executor = await strategy(waits);
    const threadsBefore = threadCount();
    try {
      const from = nowMs();
      await executor.start();
      await timeBatch(executor, work);
      const coldBatch = nowMs() - from;
      return await measureWarm(executor, work, coldBatch, threadsBefore, {
        warmMs: numberParam(params, "warmMs"),
        countMax: numberParam(params, "batches"),
        timeMsMax: numberParam(params, "batchesMs"),
      });
    } finally {
      await closeWithTimeout(executor);
    }
  };
}

async function measureWarm(
  executor: BatchExecutor,
  work: BatchWork,
  coldBatch: number,
  threadsBefore: number | undefined,
  { warmMs, countMax, timeMsMax }: { warmMs: number; countMax: number; timeMsMax: number },
): Promise<Measured> {
  const stopWatching = watchThreadCount();
  const [first] = await timeBatches(executor, work, { countMin: 1, countMax: 1, timeMsMax: 0 });
  const peak = stopWatching();
  const warmUpResult = await warmUp(executor, work, warmMs - (first?.ms ?? 0));
  const cpuFrom = process.cpuUsage();
  const countMin = first !== undefined && first.ms > LONG_BATCH_MS ? 1 : 2;
  const times = await timeBatches(executor, work, { countMin, countMax, timeMsMax });
  const { user, system } = process.cpuUsage(cpuFrom);
  const batch = median(times.map(({ ms }) => ms));
  // Counting allocations needs another batch and slows it down, so a long batch is not counted.
  const allocated = batch > timeMsMax ? undefined : await allocatedBy(() => timeBatch(executor, work));
  const tasks = work.args.length;
  return {
    samples: { batchTimes: { unit: "ms", ns: times.map(({ ms }) => ms * 1e6) } },
    values: {
      coldBatch: { unit: "ms", value: coldBatch },
      batch: { unit: "ms", value: batch },
      perTask: { unit: "us", value: (batch * 1000) / tasks },
      held: { unit: "ms", value: median(times.map(({ blockedMs }) => blockedMs)) },
      cpuTime: { unit: "ms", value: (user + system) / 1000 / times.length },
      batches: { unit: "count", value: times.length },
      warmBatches: { unit: "count", value: 1 + warmUpResult.batches },
      ...(isComputeWork(work) && !warmUpResult.warm && { [WARM_UP_CUT]: { unit: "ms", value: warmUpResult.ms } }),
      ...(peak === undefined || threadsBefore === undefined
        ? {}
        : { peakThreads: { unit: "count", value: Math.max(0, peak - threadsBefore) } }),
      ...(allocated === undefined
        ? {}
        : {
            allocations: { unit: "count", value: allocated.count },
            allocatedBytes: { unit: "bytes", value: allocated.bytes },
          }),
    },
    result: { done: tasks, checksum: work.checksum },
  };
}

/**
 * Warms up for `warmMs` milliseconds. If the machine gave this process less than half a core, computing work gets up to four times
 * that time, because strategies that learn need some batches. With too few batches to decide, the work counts as not warm.
 */
async function warmUp(
  executor: BatchExecutor,
  work: BatchWork,
  warmMs: number,
): Promise<Pick<WarmUp, "ms" | "warm"> & { batches: number }> {
  if (warmMs <= 0) return { batches: 0, ms: 0, warm: false };
  const from = nowMs();
  const cpuFrom = process.cpuUsage();
  const starved = () => {
    const { user, system } = process.cpuUsage(cpuFrom);
    return (user + system) / 1000 < warmMs / 2;
  };
  const detector = new WarmUpDetector();
  let warm = false;
  let batchCount = 0;
  while (batchCount < WARM_BATCHES_MAX) {
    const spentMs = nowMs() - from;
    if (spentMs >= warmMs && !(isComputeWork(work) && starved() && spentMs < 4 * warmMs)) break;
    const times = await timeBatches(executor, work, {
      countMin: 1,
      countMax: WARM_BATCHES_MAX - batchCount,
      timeMsMax: warmMs / 4,
    });
    for (const { ms } of times) warm = detector.isWarmAfter(ms) || warm;
    batchCount += times.length;
  }
  return { batches: batchCount, ms: nowMs() - from, warm };
}
