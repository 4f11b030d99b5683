// SPDX-License-Identifier: MIT OR Apache-2.0
// Scenario works: one strategy runs batches of one kind of work, first with a new pool, then with a warm one.
import { allocatedBy, nowMs } from "#lab-host";
import type { WarmUp } from "../mechanism/warm-up.js";
import { type Measured, type Mechanism, numberParam, textParam, WARM_UP_CUT } from "../protocol/measured.js";
import { median } from "../statistics/compare.js";
import { WarmUpDetector } from "../statistics/warm-up-detector.js";
import { type ActionName, actions, NETWORK_VARIABLE } from "./action.js";
import { type BatchWork, batches, closeSoon, oneBatch } from "./batches.js";
import { seedsIn } from "./order.js";
import type { Running, Strategy, Waits } from "./strategy.js";
import { threadCount, watchThreads } from "./threads.js";

/** Maximum number of warm-up batches. Only batches of microseconds reach it; strategies that learn have then learnt. */
const WARM_BATCHES_MAX = 600;

const COMPUTING: readonly string[] = ["arithmetic", "lists"] satisfies ActionName[];

/** Returns whether the work computes without waiting. Only such work gets faster with repetition. */
const computes = ({ name }: BatchWork): boolean => COMPUTING.includes(name);

/** Batches longer than this, in milliseconds, are timed once instead of twice. Their actions wait in turn, so they vary little. */
const LONG_BATCH_MS = 250;

export function worksMechanism(strategy: Strategy): Mechanism {
  return async ({ params }) => {
    process.env[NETWORK_VARIABLE] = String(numberParam(params, "networkUs"));
    const waits = textParam(params, "waits") as Waits;
    const name = textParam(params, "work") + (waits === "async" ? "Async" : "");
    if (!Object.hasOwn(actions, name)) throw new RangeError(`no such work: work=${name}`);
    const given = seedsIn(textParam(params, "order"), numberParam(params, "actions"));
    const work = { name: name as ActionName, given, checksum: numberParam(params, "checksum") };
    const running = await strategy(waits);
    const threadsBefore = threadCount();
    try {
      const from = nowMs();
      await running.start();
      await oneBatch(running, work);
      const coldBatch = nowMs() - from;
      return await measureWarm(running, work, coldBatch, threadsBefore, {
        warmMs: numberParam(params, "warmMs"),
        most: numberParam(params, "batches"),
        untilMs: numberParam(params, "batchesMs"),
      });
    } finally {
      await closeSoon(running);
    }
  };
}

async function measureWarm(
  running: Running,
  work: BatchWork,
  coldBatch: number,
  threadsBefore: number | undefined,
  { warmMs, most, untilMs }: { warmMs: number; most: number; untilMs: number },
): Promise<Measured> {
  const threads = watchThreads();
  const [first] = await batches(running, work, { least: 1, most: 1, untilMs: 0 });
  const peak = threads();
  const warming = await warmUp(running, work, warmMs - (first?.ms ?? 0));
  const cpuFrom = process.cpuUsage();
  const least = first !== undefined && first.ms > LONG_BATCH_MS ? 1 : 2;
  const found = await batches(running, work, { least, most, untilMs });
  const { user, system } = process.cpuUsage(cpuFrom);
  const batch = median(found.map(({ ms }) => ms));
  // Counting allocations needs another batch and slows it down, so a long batch is not counted.
  const allocated = batch > untilMs ? undefined : await allocatedBy(() => oneBatch(running, work));
  const tasks = work.given.length;
  return {
    samples: { batchTimes: { unit: "ms", ns: found.map(({ ms }) => ms * 1e6) } },
    values: {
      coldBatch: { unit: "ms", value: coldBatch },
      batch: { unit: "ms", value: batch },
      perTask: { unit: "us", value: (batch * 1000) / tasks },
      held: { unit: "ms", value: median(found.map(({ heldMs }) => heldMs)) },
      cpuTime: { unit: "ms", value: (user + system) / 1000 / found.length },
      batches: { unit: "count", value: found.length },
      warmBatches: { unit: "count", value: 1 + warming.batches },
      ...(computes(work) && !warming.warm && { [WARM_UP_CUT]: { unit: "ms", value: warming.ms } }),
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
  running: Running,
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
  let ran = 0;
  while (ran < WARM_BATCHES_MAX) {
    const spentMs = nowMs() - from;
    if (spentMs >= warmMs && !(computes(work) && starved() && spentMs < 4 * warmMs)) break;
    const found = await batches(running, work, { least: 1, most: WARM_BATCHES_MAX - ran, untilMs: warmMs / 4 });
    for (const { ms } of found) warm = detector.isWarmAfter(ms) || warm;
    ran += found.length;
  }
  return { batches: ran, ms: nowMs() - from, warm };
}
