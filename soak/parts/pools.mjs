// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools of threads: calls, streams both ways, callbacks, progress and cancellation, while workers exit, crash, hang and run out of memory.
import { setTimeout as pause } from "node:timers/promises";
import { pool } from "clearway";
import { callback } from "clearway/callback";
import { readTwice } from "../faults.mjs";
import { check, Wrong } from "../tally.mjs";

const source = new URL("./soak.tasks.mjs", import.meta.url);

/** The errors of a call whose worker another call has ended: by an exit, a crash, or because it did not stop in time. */
export const crashed = ["worker-crashed", "worker-exited", "out-of-memory"];

/**
 * Returns the operations of every pool, local or remote. `random` gives sizes and times: up to `bytesMax` bytes, a power of two, and `valuesMax`
 * values of a stream. `crashed` are the errors of a call whose worker another call or a fault has ended.
 */
export const callOperations = (random, { bytesMax, valuesMax, crashed }) => {
  const upTo = (most) => Math.floor(random() * most) + 1;
  const bytes = () => 2 ** Math.floor(random() * (Math.log2(bytesMax) + 1));
  return [
    {
      name: "call",
      weight: 40,
      expected: crashed,
      run: async ({ work }) => check((await work.call.add(2, 3)) === 5, "2 + 3 is not 5"),
    },
    {
      name: "large result",
      weight: 10,
      expected: crashed,
      async run({ work }) {
        const length = bytes();
        const result = await work.call.bytes(length);
        check(result.length === length && result[length - 1] === 7, `a result of ${length} bytes is damaged`);
      },
    },
    {
      name: "large argument",
      weight: 10,
      expected: crashed,
      async run({ work }) {
        const length = bytes();
        check((await work.call.lengthOf(new Uint8Array(length))) === length, "an argument has another length");
      },
    },
    {
      name: "stream",
      weight: 6,
      expected: crashed,
      async run({ work }) {
        const count = upTo(valuesMax);
        let next = 0;
        for await (const value of work.call.numbers(count))
          check(value === next++, `value ${value} instead of ${next - 1}`);
        check(next === count, `a stream ended after ${next} of ${count} values`);
      },
    },
    {
      name: "stream with two readers",
      weight: 2,
      expected: crashed,
      async run({ work }) {
        const count = upTo(valuesMax / 10);
        const read = await readTwice(work.call.numbers(count));
        check(read === count, `two readers have read ${read} of ${count} values`);
      },
    },
    {
      name: "slow reader that leaves",
      weight: 2,
      expected: crashed,
      async run({ work }) {
        let left = upTo(8);
        for await (const chunk of work.call.chunks(1000, 65_536)) {
          check(chunk.length === 65_536, "a chunk has another length");
          if (left-- === 0) break;
          await pause(upTo(10));
        }
      },
    },
    {
      name: "stream into a task",
      weight: 4,
      expected: crashed,
      async run({ work }) {
        const count = upTo(valuesMax / 5);
        async function* values() {
          for (let at = 0; at < count; at++) yield 1;
        }
        check((await work.call.sum(values())) === count, "a task has read another number of values");
      },
    },
    {
      name: "progress",
      weight: 4,
      expected: crashed,
      async run({ work }) {
        const count = upTo(100);
        let last = -1;
        const onProgress = (value) => {
          check(value > last, "progress went back");
          last = value;
        };
        await work.with({ onProgress }).call.reports(count);
        check(last === count - 1, "the last progress is missing");
      },
    },
    {
      name: "task that throws",
      weight: 4,
      expected: ["RangeError", ...crashed],
      async run({ work }) {
        await work.call.throws();
        throw new Wrong("the error of a task was lost");
      },
    },
    {
      name: "cancelled call",
      weight: 4,
      expected: ["AbortError", 20, ...crashed],
      async run({ work }) {
        const controller = new AbortController();
        const call = work.with({ signal: controller.signal }).call.hold();
        setTimeout(() => controller.abort(), upTo(20));
        await call;
        throw new Wrong("a cancelled call has a result");
      },
    },
    {
      name: "call with a deadline",
      weight: 3,
      expected: ["deadline", ...crashed],
      run: ({ work }) => work.with({ deadlineMs: upTo(20) }).call.hold(),
    },
    {
      name: "call that hangs",
      weight: 0.5,
      expected: ["timeout", ...crashed],
      run: ({ work }) => work.with({ timeoutMs: upTo(50) }).call.deaf(),
    },
  ];
};

/** Returns the operations of a pool of threads or child processes. */
const operations = (random) => {
  const upTo = (most) => Math.floor(random() * most) + 1;
  return [
    ...callOperations(random, { bytesMax: 2 ** 20, valuesMax: 5000, crashed }),
    {
      name: "stream into a task that fails",
      weight: 2,
      expected: ["RangeError", ...crashed],
      async run({ work }) {
        async function* values() {
          yield 1;
          throw new RangeError("on purpose");
        }
        await work.call.sum(values());
        throw new Wrong("the error of a stream was lost");
      },
    },
    {
      name: "callback",
      weight: 4,
      expected: crashed,
      async run({ work }) {
        const count = upTo(20);
        let told = 0;
        await work.call.tell(
          count,
          callback(() => told++),
        );
        check(told === count, `a callback was called ${told} times instead of ${count}`);
      },
    },
    {
      name: "call that spins",
      weight: 0.5,
      expected: ["timeout", ...crashed],
      run: ({ work }) => work.with({ timeoutMs: upTo(50) }).call.spin(),
    },
    {
      name: "call in native code",
      weight: 0.2,
      expected: ["timeout", ...crashed],
      run: ({ work }) => work.with({ timeoutMs: upTo(50) }).call.native(),
    },
    { name: "replaced globals", weight: 0.4, expected: crashed, run: ({ work }) => work.call.replaces() },
    { name: "exit of a worker", weight: 0.4, expected: crashed, run: ({ work }) => work.call.exit() },
    { name: "crash of a worker", weight: 0.4, expected: crashed, run: ({ work }) => work.call.crash() },
    {
      name: "worker out of memory",
      weight: 0.1,
      expected: crashed,
      run: ({ work }) => work.call.memory(),
    },
    {
      name: "call that may run again",
      weight: 4,
      expected: crashed,
      run: async ({ work }) => check((await work.with({ retries: 3 }).call.add(1, 1)) === 2, "1 + 1 is not 2"),
    },
  ];
};

/** Opens a pool. `options` replace those of the pool. */
export function openWith({ random, tally }, options = {}) {
  const work = pool(source, {
    size: { min: 1, max: 3, idleMs: 1000 },
    graceMs: 100,
    recycle: { tasks: 2000 },
    resourceLimits: { maxOldGenerationSizeMb: 48 },
    warnings: false,
    // Node prints a message when a worker runs out of memory. Errors of idle workers are expected, too.
    stderr: { write() {} },
    onError() {},
    ...options,
  });
  let closed;
  return {
    work,
    width: 12,
    renewEach: 1 / 5000,
    closing: ["pool-closed", "pool-terminated"],
    operations: operations(random),
    close() {
      closed ??= close(work, tally);
      return closed;
    },
  };
}

async function close(work, tally) {
  await work.close();
  const { queue, workers } = work.stats();
  if (queue.length > 0) tally.unexpected(`a closed pool has ${queue.length} waiting calls`);
  if (workers.live > 0) tally.unexpected(`a closed pool has ${workers.live} workers`);
}

/** Opens the part. */
export const open = (soak) => openWith(soak);
