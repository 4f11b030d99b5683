// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: the pieces of a value cross by ports of their own.
import type { PoolOptions } from "clearway";
import { describe, expect, test, vi } from "vitest";
import { globals } from "../../src/globals.js";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Sliced = typeof import("../fixtures/slices.tasks.js");

// A budget of 0: each value that can cross in pieces does.
const slicedPool = (options: PoolOptions = {}) => testPool<Sliced>(builtUrl("slices"), { slices: 0, ...options });
const expected = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}` }));

// With a pace of 4,000 nodes in a millisecond, 20,000 rows are 8 pieces.
const many = 20_000;

// Only Node lists what is open.
const inNode = typeof process === "object" && "getActiveResourcesInfo" in process;

const { close } = MessagePort.prototype;

/** Counts the pieces that arrive on this thread: the reader closes the port of each. `each` is called with their number. */
function countPieces(each?: (pieces: number) => void): { readonly pieces: number; restore(): void } {
  let pieces = 0;
  MessagePort.prototype.close = function (this: MessagePort) {
    close.call(this);
    pieces++;
    each?.(pieces);
  };
  return {
    get pieces() {
      return pieces;
    },
    restore: () => {
      MessagePort.prototype.close = close;
    },
  };
}

/** Leaves no time for pieces in any turn. Needs a pool that has received one. Returns a function that gives the time back. */
function spendTurns(): () => void {
  const budget = (globalThis as { [name: symbol]: unknown })[Symbol.for("clearway.turnBudget")];
  const spent = vi.spyOn(Object.getPrototypeOf(budget), "isSpent", "get").mockReturnValue(true);
  return () => spent.mockRestore();
}

describe("a large result", () => {
  test("arrives in pieces, as the same plain objects", async () => {
    const pool = slicedPool();
    const counted = countPieces();
    const rows = await pool.call.rows(many);
    counted.restore();
    expect(counted.pieces).toBeGreaterThanOrEqual(7);
    expect(rows).toEqual(expected(many));
    rows[0]!.name = "changed";
    expect(rows[0]).toEqual({ id: 0, name: "changed" });
  });

  test("crosses in one message within its budget, which a pool or a call may change or turn off", async () => {
    const usual = testPool<Sliced>(builtUrl("slices"));
    const off = slicedPool({ slices: false });
    const pieces = async (run: () => Promise<unknown>): Promise<boolean> => {
      const counted = countPieces();
      await run();
      counted.restore();
      return counted.pieces > 0;
    };
    await usual.call.add(1, 2);
    await off.call.add(1, 2);
    expect(await pieces(() => usual.call.rows(2_000))).toBe(false);
    expect(await pieces(() => usual.call.rows(many))).toBe(true);
    expect(await pieces(() => usual.with({ slices: 0 }).call.rows(2_000))).toBe(true);
    expect(await pieces(() => usual.with({ slices: false }).call.rows(many))).toBe(false);
    expect(await pieces(() => off.call.rows(many))).toBe(false);
    expect(await pieces(() => off.with({ slices: 1 }).call.rows(many))).toBe(true);
  });

  test("arrives in pieces also as the first result of a pool", async () => {
    expect(await slicedPool().call.rows(many)).toHaveLength(many);
  });

  test("keeps shared references across pieces", async () => {
    const { all, byId, last } = await slicedPool().call.shared(many);
    expect(last).toBe(all.at(-1));
    expect(byId.size).toBe(many);
    for (const row of all) if (byId.get(row.id) !== row) throw new Error(`row ${row.id} is another object`);
  });

  test("arrives as it was when the task returned it", async () => {
    expect(await slicedPool().call.kept()).toEqual(expected(3_000));
  });

  test("moves its memory, and the ledger tells", async () => {
    const pool = slicedPool();
    const { bytes, rows } = await pool.with({ strict: true }).call.withBytes(2_000);
    expect(bytes).toEqual(new Uint8Array(1_000).fill(7));
    expect(rows).toHaveLength(2_000);
    const { movedBytes, copies } = pool.stats().ledger.fromWorkers;
    expect({ movedBytes, copies }).toEqual({ movedBytes: 1_000, copies: {} });
  });

  test("has what is empty behind a text that takes more than a piece", async () => {
    const empty = { list: [], object: {}, map: new Map(), set: new Set() };
    const { text, ...rest } = await slicedPool().call.withText(10 * 2 ** 20, empty);
    expect(text).toHaveLength(10 * 2 ** 20);
    expect(rest).toEqual(empty);
  });

  test("crosses in one message if it has a port, and the ledger has the reason", async () => {
    const pool = slicedPool();
    const { port, rows } = await pool.call.withPort(5_000);
    port.close();
    expect(rows).toHaveLength(5_000);
    expect(pool.stats().ledger.fromWorkers.copies["not-sliced"]).toEqual({ count: 1, bytes: 0 });
  });

  test("crosses in one message under move()", async () => {
    const counted = countPieces();
    expect(await slicedPool().call.moved(2_000)).toHaveLength(2_000);
    counted.restore();
    expect(counted.pieces).toBe(0);
  });

  test("fails with not-cloneable and the place if its last piece cannot be sent, and the worker goes on", async () => {
    const pool = slicedPool();
    const reason = await reasonOf(pool.call.withFunction(many));
    expect(reason).toMatchObject({ code: "not-cloneable" });
    expect(reason.message).toContain("withFunction()");
    expect(await pool.call.rows(3_000)).toHaveLength(3_000);
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test("arrives although its worker exits after the task", async () => {
    const pool = slicedPool();
    expect(await pool.call.rowsThenExit(many)).toHaveLength(many);
  });

  test("does not keep its worker from the next call", async () => {
    const pool = slicedPool({ carrier: "port" });
    await pool.call.rows(many);
    const giveBack = spendTurns();
    const large = pool.call.rows(many);
    expect(await pool.call.add(1, 2)).toBe(3);
    giveBack();
    expect(await large).toHaveLength(many);
  });

  test("arrives although its worker is killed while its pieces arrive", async () => {
    const pool = slicedPool({ carrier: "port", graceMs: 0 });
    await pool.call.rows(many);
    const giveBack = spendTurns();
    const large = pool.call.rows(many);
    const stuck = pool.with({ timeoutMs: 1 }).call.stuck();
    expect(await reasonOf(stuck)).toMatchObject({ code: "timeout" });
    await expect.poll(() => pool.stats().workers.restarts).toBe(1);
    giveBack();
    expect(await large).toEqual(expected(many));
  });

  test("is awaited by close()", async () => {
    const pool = slicedPool();
    const rows = pool.call.rows(many);
    await pool.close();
    expect(await rows).toHaveLength(many);
  });

  test.runIf(inNode)("leaves no port and no timer, on either side, over 1,000 results", async () => {
    const ports = (): number =>
      process.getActiveResourcesInfo().filter((each) => each === "MessagePort" || each === "Timeout").length;
    const pool = slicedPool();
    await pool.call.rows(many);
    const [here, there] = [ports(), await pool.call.openPorts()];
    for (let at = 0; at < 30; at++) await pool.call.rows(3_000);
    // 1,021 nodes: few that come in pieces.
    for (let at = 0; at < 1_000; at++) await pool.call.rows(340);
    await expect.poll(ports).toBeLessThanOrEqual(here);
    await expect.poll(() => pool.call.openPorts()).toBeLessThanOrEqual(there);
  });
});

describe("at each piece of a result", () => {
  type End = (pool: ReturnType<typeof slicedPool>, abort: AbortController) => void;
  // A pool that ends fails a call that its worker has not answered when the worker is gone. Until then, the result may arrive.
  const endings: [how: string, code: string, end: End, latest: number][] = [
    ["abort", "mine", (_pool, abort) => abort.abort({ code: "mine" }), 5],
    ["terminate()", "pool-terminated", (pool) => void pool.terminate(), 0],
    ["close() with no time", "pool-closed", (pool) => void pool.close({ timeoutMs: 0 }), 0],
  ];
  test.each(endings)("%s fails the call with its own error, or comes too late", async (_how, code, end, latest) => {
    for (let at = 1; at <= 8; at++) {
      const pool = slicedPool();
      await pool.call.add(1, 2);
      const abort = new AbortController();
      const counted = countPieces((pieces) => {
        if (pieces === at) end(pool, abort);
      });
      const outcome = await pool
        .with({ signal: abort.signal, strict: at % 2 === 0 })
        .call.rows(many)
        .then(
          (rows) => rows.length,
          (reason) => reason.code,
        );
      counted.restore();
      expect([code, many]).toContain(outcome);
      if (at <= latest) expect(outcome).toBe(code);
      await pool.terminate();
    }
  });

  test("the end of its deadline fails the call, unless all pieces had arrived, and leaves nothing open", async () => {
    const pool = slicedPool();
    await pool.call.add(1, 2);
    const { setTimeout } = globals;
    for (let at = 1; at <= 6; at++) {
      let expire = (): void => {};
      const set = vi.spyOn(globals, "setTimeout").mockImplementation((act, ms) => {
        if (ms === undefined || ms < 900_000) return setTimeout(act, ms);
        expire = act;
        return setTimeout(() => {}, 0);
      });
      const counted = countPieces((pieces) => {
        if (pieces === at) {
          vi.spyOn(globals, "clock").mockReturnValue(globals.clock() + 1_000_000);
          expire();
        }
      });
      const [outcome] = await Promise.allSettled([pool.with({ deadlineMs: 1_000_000 }).call.rows(many)]);
      vi.restoreAllMocks();
      counted.restore();
      set.mockRestore();
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "deadline" });
      else expect(outcome.value).toHaveLength(many);
      await expect.poll(() => pool.stats().open).toBe(0);
    }
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("the end of a short deadline fails the call", async () => {
    const pool = slicedPool();
    await pool.call.add(1, 2);
    const pending = reasonOf(pool.with({ deadlineMs: 1 }).call.rows(100_000));
    expect(await pending).toMatchObject({ code: "deadline" });
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

describe("a stream", () => {
  test("has its large values in order, and its return value", async () => {
    const stream = slicedPool().call.lists(3, 3_000)[Symbol.asyncIterator]();
    for (let at = 0; at < 3; at++) expect(await stream.next()).toEqual({ done: false, value: expected(3_000) });
    expect(await stream.next()).toEqual({ done: true, value: expected(3_000) });
  });

  test.each([1, 2, 3, 4, 5, 6])("ends when its reader leaves at piece %d, and the worker goes on", async (at) => {
    const pool = slicedPool();
    const stream = pool.call.lists(100, 10_000)[Symbol.asyncIterator]();
    let left: Promise<unknown> | undefined;
    const counted = countPieces((pieces) => {
      if (pieces === at) left = stream.return?.();
    });
    for (;;) if ((await stream.next()).done) break;
    counted.restore();
    expect(await left).toEqual({ done: true, value: undefined });
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test("ends when its reader leaves while a value arrives", async () => {
    const pool = slicedPool();
    for await (const list of pool.call.lists(100, 3_000)) {
      expect(list).toHaveLength(3_000);
      break;
    }
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

describe("a worker that", () => {
  test("announces pieces and sends no result fails its call as it ends", async () => {
    const pool = slicedPool();
    await pool.call.add(1, 2);
    const reason = reasonOf(pool.with({ timeoutMs: 50 }).call.announcesPieces(1));
    expect(await reason).toMatchObject({ code: "timeout" });
  });

  test("sends a piece that cannot be read goes on", async () => {
    const pool = slicedPool();
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(await pool.call.brokenPiece()).toBe(1);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test.each([
    ["pieces that it did not announce", [29, 1, 9, [5, 0]]],
    ["pieces without a number", [29, 1, 9, ["5", 0]]],
    ["pieces of a frame that has no pieces", [29, 1, "9", [5, 0]]],
    ["a port that is none", [28, 1, { postMessage: 1 }, 0]],
    ["no port", [28, 1, undefined, 0]],
  ])("sends %s ends with protocol, and the next call gets a new worker", async (_what, frames) => {
    const pool = slicedPool();
    await pool.call.add(1, 2);
    expect(await reasonOf(pool.call.lies(frames))).toMatchObject({ code: "protocol" });
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().workers.restarts).toBe(1);
  });
});
