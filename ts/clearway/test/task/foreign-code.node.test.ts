// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: the misdeeds are the task's, and no host changes them.
import { type PoolOptions, pool } from "clearway";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sample } from "../fixtures/fast-check.js";
import { hanging, returning, throwing } from "../fixtures/misdeeds.js";
import { builtUrl } from "../fixtures/pools.js";
import { Watch } from "../pool/chaos/watch.js";
import { onStage } from "../pool/foreign/stage.js";

// Every point at which a worker calls foreign code, and what that code may do: some of it at each point in the gate, all of it in
// `make deep`. Afterwards, every call has settled, nothing is left behind, and the pool works.

type Call = Record<string, (...args: unknown[]) => Promise<unknown> & AsyncIterable<unknown>>;

// As in the module, which only a worker can import.
const pointNames = [
  "a task",
  "an async task",
  "a task with its context",
  "the result's then",
  "the result's then()",
  "a getter of the result",
  "a getter of an async result",
  "a getter deep in the result",
  "an element of the result",
  "the result's tag",
  "the result's constructor",
  "the result's toJSON",
  "the result's asyncIterator",
  "a getter of what moves",
  "a getter beside memory that moves",
  "the mark of a result",
  "the list under a result's mark",
  "the trap get of a result",
  "the trap has of a result",
  "the trap ownKeys of a result",
  "the trap getPrototypeOf of a result",
  "the trap getOwnPropertyDescriptor of a result",
  "a thrown value's getters",
  "a value of progress",
  "a listener of its signal",
  "a microtask",
  "a rejection that nobody catches",
] as const;
const streamNames = [
  "a generator",
  "the end of a generator",
  "the finally of a generator",
  "the finally of an async generator",
  "a getter of a stream's value",
] as const;
const resourceParts = ["open", "check", "close", "cancel"] as const;
// As in the module.
const reentries = Object.fromEntries(
  ["tells of progress", "reads its context", "moves memory", "exposes again", "makes and ends a pool"].map((name) => [
    name,
    1,
  ]),
);

// What has not settled by then hangs. It limits nothing that goes on.
const watchMs = Number(process.env["CLEARWAY_FUZZ_WATCH_MS"] ?? 60_000);

const stray: unknown[] = [];
const caught = (reason: unknown): void => void stray.push(reason);
beforeEach(() => void process.on("unhandledRejection", caught));
afterEach(() => {
  process.off("unhandledRejection", caught);
  stray.length = 0;
});

async function read(stream: AsyncIterable<unknown>, most: number): Promise<void> {
  let left = most;
  for await (const _each of stream) if (--left === 0) break;
}

/** Has one point reached by several calls, with neighbours. Each is given up in the end, where it does not end by itself. */
function reach(
  call: Call,
  limited: Call,
  point: string,
  name: string,
  follow: (promise: Promise<unknown>) => void,
): void {
  if (resourceParts.some((part) => point === `${part}()`)) {
    const part = point.slice(0, -2);
    follow(call["tell"]!(part, name));
    follow(limited[point]!());
    follow(limited[point]!());
    follow(call["tell"]!(part, ""));
  } else if ((streamNames as readonly string[]).includes(point)) {
    follow(read(limited[point]!(name), 2));
    follow(read(limited[point]!(name), 5));
  } else if (point === "a loop over the caller's stream") {
    const input = (async function* () {
      yield 1;
      yield 2;
    })();
    follow(limited["readAnd"]!(input, name));
  } else {
    follow(limited[point]!(name));
    follow(limited[point]!(name));
  }
  follow(limited["add"]!(1, 2));
}

async function played(point: string, options: PoolOptions, names: string[]): Promise<void> {
  const setting = { source: () => builtUrl("foreign-points"), options: () => ({ onError: () => {} }) };
  const left = await onStage(
    setting,
    { graceMs: 20, ...options },
    () => {},
    point,
    async (played) => {
      const plain = played.pool.call as unknown as Call;
      for (const name of names) {
        const watch = new Watch();
        let count = 0;
        const follow = (promise: Promise<unknown>): void => void watch.follow(`${point} ${name}: ${++count}`, promise);
        // All that may hang is given up; the rest has time.
        const timeoutMs = name in hanging || /signal|cancel|then/.test(point) ? 15 : 30_000;
        const limited = played.pool.with({ timeoutMs, onProgress: () => {} });
        reach(plain, limited.call as unknown as Call, point, name, follow);
        if (!(name in hanging))
          reach(plain, played.pool.with({ strict: true, timeoutMs }).call as never, point, name, follow);
        await watch.all(watchMs);
        const works = new Watch();
        const still = works.follow(`${point} ${name}: a plain call`, plain["add"]!(1, 2));
        await works.all(watchMs);
        expect([name, await still]).toEqual([name, { ok: 3 }]);
      }
    },
  );
  expect(left).toEqual([]);
  expect(stray).toEqual([]);
}

// Parts are loaded once in a thread, under a limit of time: its timers are no pool's.
beforeAll(async () => {
  const loader = pool<Call>(builtUrl("foreign-points"), { size: 1 });
  const call = loader.call as unknown as Call;
  await call["add"]!(1, 2);
  await read(call["a generator"]!("returns null"), 2);
  await call["readAnd"]!((async function* () {})(), "returns null");
  await loader.close();
});

const settings: Record<string, PoolOptions> = {
  "one call at a time": { size: 1 },
  "four at once": { size: 1, concurrency: 4 },
};
const all = [
  ...pointNames,
  ...streamNames,
  ...resourceParts.map((part) => `${part}()`),
  "a loop over the caller's stream",
];

test("a call rejects with the error that its task throws, also when the task throws it from its result", async () => {
  const made = pool(builtUrl("foreign-points"), { size: 1 });
  const call = made.call as unknown as Call;
  try {
    for (const point of ["a task", "an async task", "a getter of the result", "the result's then()"])
      await expect(call[point]!("throws an Error"), point).rejects.toThrow(/foreign/);
    await expect(call["open()"]!()).resolves.toBe("object");
    await expect(read(call["a generator"]!("throws an Error"), 3)).rejects.toThrow(/foreign/);
  } finally {
    await made.terminate();
  }
});

for (const [at, [how, options]] of Object.entries(settings).entries()) {
  describe(`foreign code in a worker, ${how}`, () => {
    describe.each(all.map((point, index) => [point, index + 2 * at] as const))("%s", (point, from) => {
      test("that throws, returns any value or calls back fails at most its own call", () =>
        played(
          point,
          options,
          [throwing, returning, reentries].flatMap((misdeeds: Record<string, unknown>) =>
            Object.keys(sample(misdeeds, from)),
          ),
        ));
      test("that never settles does not keep a call from settling", () =>
        played(point, options, Object.keys(sample(hanging, from))));
    });
  });
}
