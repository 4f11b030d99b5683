// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: the misdeeds are the caller's, and no host changes them.
import { ClearwayError, type PoolOptions } from "clearway";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { everything, sample } from "../fixtures/fast-check.js";
import { hanging, type Misdeed, returning, throwing } from "../fixtures/misdeeds.js";
import { gate, testPool } from "../fixtures/pools.js";
import { Watch } from "./chaos/watch.js";
import { callerPoints, type Point } from "./foreign/points.js";
import { type Foreign, foreignUrl, onStage, type Played, type Stage } from "./foreign/stage.js";

// Tests every point at which a pool calls foreign code, and the ways in which that code may fail: some at each point in the gate, all of
// them in `make deep`. Afterwards, every call has settled, nothing is left behind, and the pool works, or has ended on request.

// A promise that has not settled after this time counts as hanging. This does not limit promises that progress.
const watchMs = Number(process.env["CLEARWAY_FUZZ_WATCH_MS"] ?? 60_000);

const stray: unknown[] = [];
const caught = (reason: unknown): void => void stray.push(reason);
const events = ["uncaughtException", "unhandledRejection"] as const;
const runners = new Map<string, NodeJS.UncaughtExceptionListener[]>();

// Loads the lazy modules that a thread loads only once. Their load timeouts must not count as timers of a pool.
beforeAll(async () => {
  const left = await onStage(
    {},
    { concurrency: 4 },
    () => {},
    "",
    async ({ pool }) => {
      await pool.advise();
      await pool.call.firstOf((async function* () {})());
    },
  );
  expect(left.filter((each) => !each.startsWith("a timer"))).toEqual([]);
});

beforeEach(() => {
  for (const event of events) {
    runners.set(event, process.listeners(event as "uncaughtException"));
    process.removeAllListeners(event);
    process.on(event, caught);
  }
});

afterEach(() => {
  stray.length = 0;
  for (const event of events) {
    process.removeAllListeners(event);
    for (const each of runners.get(event) ?? []) process.on(event, each);
  }
});

/** Runs the foreign code at a point, and waits until everything has settled. */
async function reach(point: Point, stage: Omit<Stage, "follow">, ends: boolean): Promise<void> {
  const watch = new Watch();
  let count = 0;
  const follow = (promise: PromiseLike<unknown>): void =>
    void watch.follow(`${point.name} ${stage.name}: ${++count}`, promise);
  const reached = Promise.resolve(point.reach({ ...stage, follow }));
  // The preparation may hang as well.
  follow(reached);
  void reached.then((all) => all.forEach(follow));
  if (ends) {
    await stage.pool.terminate();
  }
  await watch.all(watchMs);
}

async function works({ pool }: Played): Promise<void> {
  const watch = new Watch();
  const works = watch.follow("a plain call", pool.call.add(1, 2));
  await watch.all(watchMs);
  const outcome = await works;
  const closed = "error" in outcome && outcome.error instanceof ClearwayError && outcome.error.code === "pool-closed";
  if (!closed) expect(outcome).toEqual({ ok: 3 });
}

/** Plays several misdeeds at a point, one after the other. They share a pool, unless the point configures the pool itself. */
async function each(point: Point, options: PoolOptions, some: Record<string, Misdeed>): Promise<void> {
  const play = async (played: Played, name: string, act: Misdeed): Promise<void> => {
    await reach(point, { ...played, act, name }, point.hangs === true);
    if (!point.hangs) await works(played);
  };
  const apart = point.source !== undefined || point.options !== undefined || point.hangs;
  const all = Object.entries(some);
  const lots = apart ? all.map((one) => [one]) : [all];
  for (const lot of lots) {
    const [name, act] = lot[0]!;
    const left = await onStage(point, options, act, name, async (played) => {
      for (const [name, act] of lot) await play(played, name, act);
    });
    expect({ name, left }).toEqual({ name, left: [] });
  }
}

/** Calls of foreign code back into the pool. Not nested, because the pool may then call the foreign code again. */
const reentries: Record<string, (played: Played, controller: AbortController) => readonly PromiseLike<unknown>[]> = {
  "calls the pool": ({ pool }) => [
    pool.call.add(1, 2),
    pool.call.echo(new Uint8Array(100_000)),
    pool.with({ key: "b", timeoutMs: 60_000 }).call.add(1, 2),
    pool.ping(),
  ],
  "closes the pool": ({ pool }) => [pool.close()],
  "terminates the pool": ({ pool }) => [pool.terminate()],
  "cancels its call": (_played, controller) => {
    controller.abort();
    return [];
  },
};

async function reenter(point: Point, options: PoolOptions, what: string): Promise<void> {
  const watch = new Watch();
  const controller = new AbortController();
  let stage: Played | undefined;
  let acting = false;
  const act = (): undefined => {
    if (stage === undefined || acting) return;
    acting = true;
    try {
      for (const promise of reentries[what]!(stage, controller)) void watch.follow(what, promise);
    } finally {
      acting = false;
    }
  };
  const left = await onStage(point, options, act, what, async (played) => {
    stage = played;
    played.signals.push(controller.signal);
    const { pool } = played;
    const { signal } = controller;
    const own =
      what === "cancels its call"
        ? { ...pool, ...pool.with({ signal }), with: (more: object) => pool.with({ signal, ...more }) }
        : pool;
    const ended = what.endsWith("the pool") && !what.startsWith("calls");
    await reach(point, { ...played, pool: own as never, act, name: what }, point.hangs === true);
    await watch.all(watchMs);
    if (!ended && !point.hangs) await works(played);
  });
  expect({ what, left }).toEqual({ what, left: [] });
}

const settings: Record<string, PoolOptions> = {
  "one call at a time": { size: 1, graceMs: 20 },
  "four at once": { size: 1, concurrency: 4, graceMs: 20 },
};

for (const [at, [how, options]] of Object.entries(settings).entries()) {
  describe(`foreign code on the caller's thread, ${how}`, () => {
    const points = callerPoints
      .map((point, index) => [point.name, point, index + 2 * at] as const)
      // In the gate, each point is in one of the settings.
      .filter((_, index) => everything || index % 2 === at);
    describe.each(points)("%s", (_name, point, from) => {
      test("that throws or returns any value fails only its own call", async () => {
        await each(point, options, { ...sample(throwing, from), ...sample(returning, from) });
        expect(stray).toEqual([]);
      });

      test("that never settles is ended with its pool", async () => {
        await each({ ...point, hangs: true }, options, sample(hanging, from));
        expect(stray).toEqual([]);
      });

      // In the gate, each point tries two of the four.
      const turn = Math.floor(from / 2) % 2;
      const some = Object.keys(reentries).filter((_what, index) => everything || index % 2 === turn);
      test.each(some)("that %s settles every call", async (what) => {
        await reenter(point, options, what);
        expect(stray).toEqual([]);
      });
    });
  });
}

const misdeeds = (from: number) =>
  Object.entries({ ...sample(throwing, from), ...sample(returning, from), ...sample(hanging, from) });

test.each(misdeeds(0))("an onError that %s is called once per crash, and the pool goes on", async (what, act) => {
  const told = gate<unknown>();
  let calls = 0;
  const pool = testPool<Foreign>(foreignUrl, {
    onError: (error) => {
      calls++;
      told.tell(error);
      // Re-enters the pool as well.
      void pool.call.add(3, 4);
      return act() as undefined;
    },
  });
  expect(await pool.call.add(1, 2)).toBe(3);
  await pool.call.failsLater();
  expect(await told.promise).toMatchObject({ message: "uncaught" });
  expect(await pool.call.add(5, 6)).toBe(11);
  await pool.close();
  expect(calls).toBe(1);
  // What a listener throws is the app's own uncaught error.
  expect(stray).toHaveLength(what.startsWith("throws") ? 1 : 0);
});

test("errors that belong to no call are printed without an onError", async () => {
  const printed = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => printed.mockRestore());
  const typo = new Error("typo");
  const pool = testPool<Foreign>(foreignUrl, {
    name: "prints",
    metrics: () => {
      throw typo;
    },
  });
  expect(await pool.call.add(1, 2)).toBe(3);
  await pool.close();
  expect(printed.mock.calls).toEqual([['pool "prints":', typo]]);
});

test.each(misdeeds(1))(
  "an onWorker and an onDrain that %s are called for each event, and the pool goes on",
  async (what, act) => {
    const events: string[] = [];
    const pool = testPool<Foreign>(foreignUrl, {
      onWorker: ({ type }) => {
        events.push(type);
        void pool.call.add(3, 4).catch(() => {});
        return act() as undefined;
      },
      onDrain: () => {
        events.push("drained");
        return act() as undefined;
      },
    });
    await pool.ready();
    expect(await Promise.all([pool.call.add(1, 2), pool.call.add(3, 4), pool.call.add(5, 6)])).toEqual([3, 7, 11]);
    await pool.close();
    expect(events).toEqual(["started", "drained", "exited"]);
    expect(stray).toHaveLength(what.startsWith("throws") ? 3 : 0);
  },
);
