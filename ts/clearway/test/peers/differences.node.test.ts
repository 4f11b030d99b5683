// SPDX-License-Identifier: MIT OR Apache-2.0
// The differences of docs/differences.md that a test can show.
import { EventEmitter } from "node:events";
import { expect } from "vitest";
import { plainPool, reasonOf, testPool } from "../fixtures/pools.js";
import { taskFolder } from "../fixtures/task-folder.js";
import { behaviours, gatedPool, outcomes, type Peers, peerPool } from "./behaviours.js";

behaviours("unlike Piscina, a pool", {
  "takes no module that exports a function without expose()": async () => {
    const { url } = taskFolder({ "plain.mjs": "export default (value) => value * 2;" });
    expect(await outcomes([testPool<Peers>(url("plain.mjs")).call.who()])).toEqual(["worker-start-failed"]);
  },
  "takes no event emitter as a signal": () =>
    expect(() => peerPool().with({ signal: new EventEmitter() as never })).toThrow(
      expect.objectContaining({ code: "invalid-argument" }),
    ),
  "lets a call over the limit of its queue wait, by default": async () => {
    const { pool, pass, begun, open } = await gatedPool({ queue: { items: 1 } });
    const calls = ["a", "b", "c"].map(pass);
    await begun("a");
    expect(pool.stats().queue.items).toBe(2);
    await open("a", "b", "c");
    expect(await Promise.all(calls)).toEqual(["a", "b", "c"]);
  },
  "has no synchronous dispose": () => expect(Symbol.dispose in peerPool()).toBe(false),
  "does not show its threads": () => expect(peerPool()).not.toHaveProperty("threads"),
  "moves the memory of a result without being asked": async () => {
    const { call, stats } = peerPool();
    await call.result(false);
    expect(stats().ledger.fromWorkers.movedBytes).toBe(1000);
  },
});

behaviours("unlike with Comlink,", {
  "a property of an object is a task, not a property of the proxy": async () => {
    const call = peerPool().call as unknown as { answer: () => Promise<unknown> };
    expect(await outcomes([call.answer()])).toEqual(["unknown-task"]);
  },
  "the class of an error is not kept, but its name, code and properties are": async () => {
    const reason = await reasonOf(peerPool().call.throws("own"));
    expect(reason).toMatchObject({ name: "StockError", code: "E_STOCK", left: 2 });
    expect(Object.getPrototypeOf(reason)).toBe(Error.prototype);
  },
  "a result that cannot be cloned fails the call with not-cloneable": async () =>
    expect(await outcomes([plainPool().call.returnsFunction()])).toEqual(["not-cloneable"]),
});

behaviours("unlike workerpool, a pool", {
  "runs no function that is given as text": async () => {
    const text = ((a: number, b: number) => a + b).toString();
    expect(await outcomes([testPool<Peers>(text, { startTimeoutMs: 60_000 }).call.add(1, 2)])).toEqual([
      "worker-start-failed",
    ]);
  },
  "gives plain promises, which are cancelled by a signal": () => {
    const call = peerPool().call.add(1, 2);
    expect(call).not.toHaveProperty("cancel");
    expect(call).not.toHaveProperty("timeout");
    return call.then(() => {});
  },
});
