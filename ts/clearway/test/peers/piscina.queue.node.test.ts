// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect } from "vitest";
import { gate } from "../fixtures/pools.js";
import { behaviours, gatedPool, outcomes } from "./behaviours.js";

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `call ${at}`);

behaviours("the queue", {
  "keeps calls until a worker is free, and counts them": async () => {
    const { pool, pass, begun, open } = await gatedPool();
    const calls = names(4).map(pass);
    await begun("call 0");
    expect(pool.stats()).toMatchObject({ queue: { items: 3 }, open: 4 });
    await open(...names(4));
    expect(await Promise.all(calls)).toEqual(names(4));
    expect(pool.stats()).toMatchObject({ queue: { items: 0 }, open: 0 });
  },
  "gives calls to workers in their order": async () => {
    const { pass, open } = await gatedPool();
    const order: unknown[] = [];
    const calls = names(5).map((name) => pass(name).then((each) => order.push(each)));
    await open(...names(5));
    await Promise.all(calls);
    expect(order).toEqual(names(5));
  },
  "keeps the order of calls with and without a signal": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const order: unknown[] = [];
    const { signal } = new AbortController();
    const first = pass("call 0");
    await begun("call 0");
    const calls = [
      first,
      ...names(5)
        .slice(1)
        .map((name, at) => (at % 2 === 0 ? pool.with({ signal }).call.pass(name, channel) : pass(name))),
    ].map((call) => call.then((each) => order.push(each)));
    await open(...names(5));
    await Promise.all(calls);
    expect(order).toEqual(names(5));
  },
  "lets a call of a higher priority go first": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const order: unknown[] = [];
    const first = pass("running");
    await begun("running");
    const calls = [first, pass("low"), pool.with({ priority: 5 }).call.pass("high", channel)].map((call) =>
      call.then((each) => order.push(each)),
    );
    await open("running", "high", "low");
    await Promise.all(calls);
    expect(order).toEqual(["running", "high", "low"]);
  },
  "refuses a call over its limit": async () => {
    const { pass, begun, open } = await gatedPool({ queue: { items: 2, whenFull: "fail" } });
    const running = pass("running");
    await begun("running");
    const calls = [running, pass("a"), pass("b"), pass("c")];
    const all = outcomes(calls);
    await open("running", "a", "b");
    expect(await all).toEqual(["running", "a", "b", "queue-full"]);
  },
  "refuses every call that would wait, with a limit of 0": async () => {
    const { pass, begun, open } = await gatedPool({ queue: { items: 0 } });
    const running = pass("running");
    await begun("running");
    expect(await outcomes([pass("a"), pass("b")])).toEqual(["queue-full", "queue-full"]);
    await open("running");
    expect(await running).toBe("running");
    const next = pass("c");
    await open("c");
    expect(await next).toBe("c");
  },
  "drops the oldest waiting call, if the pool asks for that": async () => {
    const { pass, begun, open } = await gatedPool({ queue: { items: 1, whenFull: "dropOldest" } });
    const running = pass("running");
    await begun("running");
    const all = outcomes([running, pass("old"), pass("new")]);
    await open("running", "new");
    expect(await all).toEqual(["running", "dropped", "new"]);
  },
  "counts the memory in the arguments of waiting calls": async () => {
    const { pool, pass, begun, open } = await gatedPool({ queue: { bytes: 1000, whenFull: "fail" } });
    const running = pass("running");
    await begun("running");
    const send = (bytes: number) => pool.call.pass(new Uint8Array(bytes) as never, "");
    send(600).catch(() => {});
    expect(pool.stats().queue).toEqual({ items: 1, bytes: 600 });
    expect(await outcomes([send(600)])).toEqual(["queue-full"]);
    await open("running");
    await running;
  },
  "tells when it has room": async () => {
    const { pool, pass, begun, open } = await gatedPool({ queue: { items: 1 } });
    await pool.room();
    const calls = [pass("running"), pass("waiting")];
    await begun("running");
    let room = false;
    const settled = pool.room().then(() => {
      room = true;
    });
    await Promise.resolve();
    expect(room).toBe(false);
    await open("running");
    await settled;
    await open("waiting");
    await Promise.all(calls);
  },
  "tells when no call waits any more": async () => {
    const drained = gate();
    let drains = 0;
    const onDrain = () => {
      drains++;
      drained.tell();
    };
    const { pool, pass, begun, open } = await gatedPool({ onDrain });
    const calls = names(3).map(pass);
    await begun("call 0");
    expect(drains).toBe(0);
    await open("call 0", "call 1");
    await drained.promise;
    expect([drains, pool.stats().queue.items]).toEqual([1, 0]);
    await open("call 2");
    await Promise.all(calls);
  },
  "never has a negative length, whatever is cancelled": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const running = pass("running");
    await begun("running");
    const controllers = names(20).map(() => new AbortController());
    const all = outcomes(controllers.map(({ signal }, at) => pool.with({ signal }).call.pass(at, channel)));
    // In an order that begins in the middle and skips to and fro.
    for (let at = 0; at < 20; at++) {
      const controller = controllers[(at * 7 + 10) % 20];
      controller?.abort();
      controller?.abort();
      expect(pool.stats().queue.items).toBe(19 - at);
    }
    expect(new Set(await all)).toEqual(new Set(["AbortError"]));
    await open("running");
    expect(await running).toBe("running");
  },
});

behaviours("a worker", {
  "runs one call at a time by default": async () => {
    const { pool, pass, begun, open } = await gatedPool();
    const calls = [pass("a"), pass("b")];
    await begun("a");
    expect(pool.stats().queue.items).toBe(1);
    await open("a", "b");
    await Promise.all(calls);
  },
  "runs as many calls at once as the pool allows": async () => {
    const { pool, pass, begun, open } = await gatedPool({ concurrency: 3 });
    const calls = names(4).map(pass);
    await begun("call 0", "call 1", "call 2");
    expect(pool.stats()).toMatchObject({ workers: { size: 1, busy: 1 }, queue: { items: 1 } });
    await open("call 1", "call 3", "call 0", "call 2");
    expect(await Promise.all(calls)).toEqual(names(4));
  },
  "gets a new call when one of several has ended": async () => {
    const { pass, begun, open } = await gatedPool({ concurrency: 2 });
    const calls = names(3).map(pass);
    await begun("call 0", "call 1");
    await open("call 1");
    await begun("call 2");
    await open("call 0", "call 2");
    expect(await Promise.all(calls)).toEqual(names(3));
  },
  "that is free gets a call before one that is busy": async () => {
    const { pool, pass, begun, open } = await gatedPool({ size: 2, concurrency: 2 });
    await expect.poll(() => pool.stats().workers.ready).toBe(2);
    const calls = [pass("a"), pass("b")];
    await begun("a", "b");
    expect(pool.stats().workers.busy).toBe(2);
    await open("a", "b");
    await Promise.all(calls);
  },
});
