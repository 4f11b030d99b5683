// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import { expect } from "vitest";
import { gate, reasonOf } from "../fixtures/pools.js";
import { behaviours, gatedPool, outcomes, peerPool } from "./behaviours.js";

/** Starts a task that runs until it is cancelled. */
async function running(task: "hold" | "deaf" | "block", options: object = {}, graceMs = 60_000) {
  const pool = peerPool({ graceMs, ...options });
  const before = await pool.call.who();
  const started = gate<unknown>();
  const controller = new AbortController();
  const call = pool.with({ signal: controller.signal, onProgress: started.tell }).call[task]();
  call.catch(() => {});
  await started.promise;
  return { pool, call, before, controller };
}

behaviours("a signal that aborts", {
  "before the call rejects it at once, and starts nothing": async () => {
    const pool = peerPool({ size: { min: 0, max: 1 } });
    const reason = new Error("too late");
    expect(await reasonOf(pool.with({ signal: AbortSignal.abort(reason) }).call.who())).toBe(reason);
    expect(pool.stats().workers.size).toBe(0);
  },
  "before the call without a reason rejects it with an AbortError": async () =>
    expect(await reasonOf(peerPool().with({ signal: AbortSignal.abort() }).call.who())).toMatchObject({
      name: "AbortError",
    }),
  "while the task runs rejects the call with an AbortError": async () => {
    const { call, controller } = await running("hold");
    controller.abort();
    expect(await reasonOf(call)).toMatchObject({ name: "AbortError" });
  },
  "while the task runs rejects the call with the reason": async () => {
    const { call, controller } = await running("hold");
    const reason = new RangeError("the user left");
    controller.abort(reason);
    expect(await reasonOf(call)).toBe(reason);
  },
  "may have any value as its reason": async () => {
    for (const reason of ["a text", 5, null, { code: 1 }]) {
      const { call, controller } = await running("hold");
      controller.abort(reason);
      expect(await reasonOf(call)).toBe(reason);
    }
  },
  "keeps the worker of a task that listens": async () => {
    const { pool, call, before, controller } = await running("hold");
    controller.abort();
    await reasonOf(call);
    expect(await pool.call.who()).toBe(before);
  },
  "replaces the worker of a task that ignores it": async () => {
    const { pool, call, before, controller } = await running("deaf", {}, 1);
    controller.abort();
    await reasonOf(call);
    expect(await pool.call.who()).not.toBe(before);
  },
  "replaces the worker of a task that blocks its thread": async () => {
    const { pool, call, before, controller } = await running("block", {}, 1);
    controller.abort();
    await reasonOf(call);
    expect(await pool.call.who()).not.toBe(before);
  },
  "after the result changes nothing": async () => {
    const pool = peerPool();
    const controller = new AbortController();
    expect(await pool.with({ signal: controller.signal }).call.add(1, 2)).toBe(3);
    controller.abort();
    expect(await pool.call.add(1, 2)).toBe(3);
  },
  "while the call waits rejects it, and it never runs": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const first = pass("first");
    await begun("first");
    const controller = new AbortController();
    const second = pool.with({ signal: controller.signal }).call.pass("second", channel);
    controller.abort();
    expect(await outcomes([second])).toEqual(["AbortError"]);
    expect(pool.stats().queue.items).toBe(0);
    await open("first");
    expect(await first).toBe("first");
    expect(pool.stats().tasks["pass"]).toMatchObject({ calls: 2, ok: 1, cancelled: 1 });
  },
  "may be shared by many calls, and ends them all": async () => {
    const pool = peerPool({ size: 2 });
    const controller = new AbortController();
    const { call } = pool.with({ signal: controller.signal });
    const calls = Array.from({ length: 20 }, () => call.hold());
    const all = outcomes(calls);
    controller.abort();
    expect(await all).toEqual(calls.map(() => "AbortError"));
    expect(await pool.call.add(1, 1)).toBe(2);
  },
});

behaviours("a signal", {
  "has no listener after its calls have settled": async () => {
    const pool = peerPool();
    const controller = new AbortController();
    const { call } = pool.with({ signal: controller.signal });
    await Promise.all([call.add(1, 2), reasonOf(call.throws("own")), call.later(1)]);
    await expect.poll(() => getEventListeners(controller.signal, "abort")).toEqual([]);
  },
  "has one listener, however many calls share it": async () => {
    const pool = peerPool();
    const controller = new AbortController();
    const calls = Array.from({ length: 50 }, () => pool.with({ signal: controller.signal }).call.later(1));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    await Promise.all(calls);
  },
  "of AbortSignal.timeout rejects with its TimeoutError": async () =>
    expect(
      await reasonOf(
        peerPool()
          .with({ signal: AbortSignal.timeout(1) })
          .call.hold(),
      ),
    ).toMatchObject({
      name: "TimeoutError",
    }),
  "of AbortSignal.any works": async () => {
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, new AbortController().signal]);
    const call = peerPool().with({ signal }).call.hold();
    controller.abort(new Error("one of them"));
    expect(await reasonOf(call)).toMatchObject({ message: "one of them" });
  },
  "that is no signal is refused": () => {
    for (const signal of [5, "abort", {}, () => {}])
      expect(() => peerPool().with({ signal: signal as never })).toThrow(
        expect.objectContaining({ code: "invalid-argument" }),
      );
  },
});

behaviours("a call that can be cancelled, beside another one in its worker,", {
  "ends alone when its task listens": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool({ concurrency: 2 });
    const plain = pass("plain");
    const controller = new AbortController();
    const other = pool.with({ signal: controller.signal }).call.pass("cancelled", channel);
    await begun("plain", "cancelled");
    controller.abort();
    expect(await outcomes([other])).toEqual(["AbortError"]);
    await open("plain");
    expect(await plain).toBe("plain");
  },
  "ends alone when its task ignores the signal: the other call finishes first": async () => {
    const { pool, call, controller, before } = await running("deaf", { concurrency: 2 }, 1);
    const other = pool.call.later("other");
    controller.abort();
    expect(await outcomes([call, other])).toEqual(["AbortError", "other"]);
    expect(await pool.call.who()).not.toBe(before);
  },
  "with the default concurrency waits for the worker": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const first = pass("plain");
    await begun("plain");
    const second = pool.with({ signal: new AbortController().signal }).call.pass("cancellable", channel);
    expect(pool.stats().queue.items).toBe(1);
    await open("plain", "cancellable");
    expect(await outcomes([first, second])).toEqual(["plain", "cancellable"]);
  },
  "leaves the other workers to other calls": async () => {
    const { pool, pass, open, channel } = await gatedPool({ size: 2 });
    const first = pool.with({ signal: new AbortController().signal }).call.pass("cancellable", channel);
    const second = pass("plain");
    await open("plain");
    expect(await second).toBe("plain");
    await open("cancellable");
    expect(await first).toBe("cancellable");
  },
});

behaviours("terminate()", {
  "fails a call whose signal never aborts": async () => {
    const { pool, call } = await running("hold");
    await pool.terminate();
    expect(await reasonOf(call)).toMatchObject({ code: "pool-terminated" });
  },
  "and an abort at the same time settle each call once": async () => {
    const { pool, call, controller } = await running("deaf", {}, 1);
    controller.abort(new Error("first"));
    await pool.terminate();
    expect(await reasonOf(call)).toMatchObject({ message: "first" });
  },
});
