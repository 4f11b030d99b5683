// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test } from "vitest";
import fc from "../../fixtures/fast-check.js";
import { builtUrl, testPool } from "../../fixtures/pools.js";

/** Starts counting how often this thread schedules a turn of its event loop. Polling would schedule one after the other. */
function countTurns(): () => number {
  let turns = 0;
  const scope = globalThis as { setImmediate?: (next: () => void) => unknown };
  const { setImmediate: immediate } = scope;
  if (immediate) {
    scope.setImmediate = (next) => {
      turns++;
      return immediate(next);
    };
  } else {
    const post = MessagePort.prototype.postMessage as (this: MessagePort, ...args: unknown[]) => void;
    MessagePort.prototype.postMessage = function (this: MessagePort, ...args: unknown[]) {
      turns++;
      post.apply(this, args);
    };
  }
  return () => turns;
}

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

type Ring = typeof import("../../fixtures/ring.tasks.js");

const made = (size = 1) => testPool<Ring>(builtUrl("ring"), { size });
const pauses = 200;
const turnsOfTimers = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setTimeout(resolve));
};

/**
 * Waits until this thread makes fewer turns than timers fire. A poller makes many turns between two timers. On a busy machine, the test
 * runner makes some, too, so one noisy period proves nothing. With a poller that never parks, this waits forever.
 */
async function makesFewTurns(): Promise<void> {
  for (;;) {
    const turns = countTurns();
    await turnsOfTimers(pauses);
    if (turns() < pauses) return;
  }
}

describe("a pool over the ring and the port", () => {
  test("gives every call its own answer, for small and large values from many concurrent loops", async () => {
    const { call } = made(2);
    const values = fc.sample(
      fc.oneof(
        fc.jsonValue({ maxDepth: 3 }),
        fc.double(),
        fc.string({ minLength: 5000, maxLength: 5010 }),
        fc.uint8Array({ minLength: 1, maxLength: 1000 }),
        fc.bigInt(),
      ),
      2000,
    );
    let next = 0;
    const loop = async (): Promise<void> => {
      for (let at = next++; at < values.length; at = next++) {
        const answer = at % 2 === 0 ? call.echo(values[at]) : call.later(values[at]);
        expect(await answer).toEqual(values[at]);
      }
    };
    await Promise.all(Array.from({ length: 50 }, loop));
  });

  test.each(["echo", "later"] as const)(
    "answers 3000 sequential calls of `%s`, with pauses in which either side parks",
    async (task) => {
      const { call } = made();
      for (let at = 0; at < 3000; at++) {
        if (at % 50 === 0) await turnsOfTimers(at % 7);
        // A pending timer per call, like a race against a timeout.
        const timer = setTimeout(() => {}, 60_000);
        const value = { connection: "none", port: 1, at };
        expect(await call[task](value)).toEqual(value);
        clearTimeout(timer);
      }
    },
  );

  test("keeps the order of a stream whose values go by ring and by port", async () => {
    const { call } = made();
    let at = 0;
    for await (const value of call.values(3000)) expect(value.at).toBe(at++);
    expect(at).toBe(3000);
  });

  test("keeps progress in order and before the result", async () => {
    const told: unknown[] = [];
    const pool = made();
    const count = await pool.with({ onProgress: (value) => told.push(value) }).call.tells(5000);
    expect(told).toEqual(Array.from({ length: count }, (_, at) => at));
  });

  test("delivers a worker's progress before its exit, in order, and fails the call", async () => {
    const pool = made();
    for (let round = 0; round < 15; round++) {
      const told: number[] = [];
      const careful = pool.with({ onProgress: (value) => told.push((value as { at: number }).at) });
      const count = (round * 37) % 300;
      const outcome = await Promise.allSettled([careful.call.leavesAfter(count), pool.call.echo(round)]);
      expect(outcome[0]).toMatchObject({ status: "rejected", reason: { code: "worker-exited" } });
      // This call had not started, so another worker ran it.
      expect(outcome[1]).toEqual({ status: "fulfilled", value: round });
      expect(told).toEqual(Array.from({ length: count }, (_, at) => at));
    }
  });

  test("settles every call when it is terminated at any moment", async () => {
    for (let round = 0; round < 10; round++) {
      const pool = made();
      await pool.ready();
      const calls = Promise.allSettled(Array.from({ length: 200 }, (_, at) => pool.call.later(at)));
      for (let turn = 0; turn < round; turn++) await pool.call.echo(turn);
      await pool.terminate();
      for (const { status } of await calls) expect(["fulfilled", "rejected"]).toContain(status);
    }
  });

  test("makes no turns of the event loop while it is idle, on either side", async () => {
    const pool = made();
    for (let at = 0; at < 100; at++) await pool.call.echo(at);
    await makesFewTurns();
    for (;;) {
      const there = await pool.call.turns();
      await turnsOfTimers(pauses);
      if ((await pool.call.turns()) - there < pauses) break;
    }
  });

  test("makes few turns of the event loop while it waits for a slow task", async () => {
    const pool = made();
    for (let at = 0; at < 100; at++) await pool.call.echo(at);
    void pool.call.never().catch(() => {});
    await makesFewTurns();
  });

  test("lets timers fire while a caller makes one call after the other", async () => {
    const { call } = made();
    let fired = 0;
    const fire = (): void => {
      if (++fired < 20) setTimeout(fire);
    };
    setTimeout(fire);
    while (fired < 20) expect(await call.echo(fired)).toBeLessThanOrEqual(20);
  });

  test.runIf(inNode)("lets a socket be served while a caller makes one call after the other", async () => {
    const { connect, createServer } = await import("node:net");
    const server = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => {
      socket.destroy();
      server.close();
    });
    let echoes = 0;
    socket.on("data", () => {
      if (++echoes < 20) socket.write(".");
    });
    socket.write(".");
    const { call } = made();
    while (echoes < 20) expect(await call.echo("x")).toBe("x");
  });

  test.skipIf(inNode)("lets animation frames run while a caller makes one call after the other", async () => {
    const { call } = made();
    let frames = 0;
    const frame = (): void => {
      if (++frames < 10) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    while (frames < 10) expect(await call.echo("x")).toBe("x");
  });
});
