// SPDX-License-Identifier: MIT OR Apache-2.0

import { type ClearwayError, move, pool, run } from "clearway";
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { builtUrl, plainPool, reasonOf, testPool, workerMaker } from "../fixtures/pools.js";
import { behaviours, outcomes, type Peers, peerPool } from "./behaviours.js";

behaviours("a function of a dedicated worker", {
  "is executed by its name, with arguments": async () => expect(await peerPool().call.add(3, 4)).toBe(7),
  "is executed without arguments": async () => expect(await peerPool().call.count()).toBe(0),
  "may return a promise": async () => expect(await peerPool().call.later("x")).toBe("x"),
  "may have a name that is in a variable": async () => {
    const { call } = peerPool();
    for (const name of ["add", "count"] as const)
      expect(await (call[name] as (...args: number[]) => unknown)(1, 2)).toBe(name === "add" ? 3 : 2);
  },
  "is one method of a proxy of the module": async () => {
    const { call } = peerPool();
    expect(typeof call.add).toBe("function");
    expect(await Promise.all([call.add(1, 1), call.greet()])).toEqual([2, "hello you"]);
  },
  "of an unknown name fails": async () => {
    const { call } = peerPool();
    const unknown = call as unknown as { subtract(): Promise<unknown> };
    expect(await outcomes([unknown.subtract(), call.add(1, 1)])).toEqual(["unknown-task", 2]);
  },
  "of a name that every object has fails, too": async () => {
    const call = peerPool().call as unknown as Record<string, () => Promise<unknown>>;
    for (const name of ["constructor", "toString", "hasOwnProperty", "__proto__"])
      expect(await outcomes([Promise.resolve().then(() => call[name]?.())])).toEqual([
        expect.stringMatching(/unknown-task|TypeError/),
      ]);
  },
  "gets its own result, in whatever order the calls end": async () => {
    const { call } = peerPool({ size: 2 });
    expect(await Promise.all([call.later("slow"), call.add(1, 2), call.later("slow too"), call.add(3, 4)])).toEqual([
      "slow",
      3,
      "slow too",
      7,
    ]);
  },
  "runs for each value of a list": async () => {
    const { map } = peerPool({ size: 2 });
    expect(await map.later(["a", "b", "c"])).toEqual(["a", "b", "c"]);
  },
  "runs once in a worker of its own": async () => expect(await run<Peers>(builtUrl("peers")).call.add(2, 3)).toBe(5),
});

behaviours("a function without a module", {
  "is refused by pool(), with advice": () => {
    const refused = () => pool((async () => 1) as never);
    expect(refused).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  },
  "as an argument is refused, with advice": async () => {
    const reason = await reasonOf(peerPool().call.echo(() => 1));
    expect(reason).toMatchObject({ code: "not-cloneable" });
  },
  "may be a callback, which runs on the caller's thread": async () =>
    expect(await peerPool().call.callTwice(callback((value: number) => value + 10))).toEqual([11, 12]),
});

describe("an error of a worker", () => {
  test.each(["throws", "rejects"] as const)("reaches the caller (%s)", async (name) => {
    const { call } = peerPool();
    expect(await reasonOf(call[name]("type"))).toMatchObject({ name: "TypeError", message: "a type" });
  });

  behaviours("(with all that is in it)", {
    "keeps its own properties": async () =>
      expect(await reasonOf(peerPool().call.throws("own"))).toMatchObject({ code: "E_STOCK", left: 2 }),
    "keeps its cause": async () =>
      expect(await reasonOf(peerPool().call.throws("cause"))).toMatchObject({ cause: { name: "SyntaxError" } }),
    "is an instance of Error": async () => expect(await reasonOf(peerPool().call.throws("own"))).toBeInstanceOf(Error),
    "may be no error at all": async () => expect(await reasonOf(peerPool().call.throws("text"))).toBe("a text"),
    "can be caught, and the chain goes on": async () => {
      const { call } = peerPool();
      const value = await call
        .throws("own")
        .then(
          () => 0,
          () => call.add(1, 2),
        )
        .finally(() => {});
      expect(value).toBe(3);
    },
  });

  test("of Clearway has a code from a closed list", async () => {
    const call = peerPool().call as unknown as { nope(): Promise<never> };
    const reason = (await reasonOf(call.nope())) as ClearwayError;
    expect([reason.name, reason.code]).toEqual(["ClearwayError", "unknown-task"]);
  });
});

describe("progress of a task (workerpool's events)", () => {
  const lists: [string, unknown[]][] = [
    ["one value", ["a"]],
    ["several values, in order", [1, 2, 3]],
    ["objects", [{ status: "in_progress" }, { status: "complete" }]],
    ["nothing", []],
  ];
  test.each(lists)("reaches the listener of the call: %s", async (_, values) => {
    const pool = peerPool();
    for (const name of ["emit", "emitLater"] as const) {
      const seen: unknown[] = [];
      expect(await pool.with({ onProgress: (value) => void seen.push(value) }).call[name](values)).toBe(values.length);
      expect(seen).toEqual(values);
    }
  });

  behaviours("(who hears it)", {
    "is heard by no other call": async () => {
      const pool = peerPool();
      const seen: unknown[][] = [[], []];
      const listen = (at: number) => pool.with({ onProgress: (value) => void seen[at]?.push(value) }).call;
      await Promise.all([listen(0).emit(["a"]), listen(1).emit(["b"])]);
      expect(seen).toEqual([["a"], ["b"]]);
    },
    "is ignored without a listener": async () => expect(await peerPool().call.emit([1, 2])).toBe(2),
    "is heard before the error of the call": async () => {
      const seen: unknown[] = [];
      const call = peerPool()
        .with({ onProgress: (value) => void seen.push(value) })
        .call.emitThenFail();
      await call.catch((error: Error) => seen.push(error.message));
      expect(seen).toEqual(["before", "after"]);
    },
    "fails the call if its listener throws, and no other call": async () => {
      const pool = peerPool();
      const onProgress = () => {
        throw new RangeError("the listener");
      };
      expect(await outcomes([pool.with({ onProgress }).call.emit([1]), pool.call.add(1, 1)])).toEqual([
        "RangeError",
        2,
      ]);
    },
    "may be a listener that is no function: the pool refuses it": () => {
      expect(() => peerPool().with({ onProgress: 5 as never })).toThrow(
        expect.objectContaining({ code: "invalid-argument" }),
      );
    },
  });
});

behaviours("memory", {
  "moves to the worker": async () => {
    const bytes = new Uint8Array(100);
    expect(await peerPool().call.length(move(bytes, [bytes.buffer]))).toBe(100);
    expect(bytes.byteLength).toBe(0);
  },
  "moves back": async () => expect(await peerPool().call.result(true)).toHaveLength(1000),
  "is copied without the mark": async () => {
    const bytes = new Uint8Array(100);
    expect(await peerPool().call.length(bytes)).toBe(100);
    expect(bytes.byteLength).toBe(100);
  },
  "that is empty crosses, too": async () => expect(await peerPool().call.length(new Uint8Array(0))).toBe(0),
});

behaviours("a module", {
  "may be given by the app's own factory": async () => {
    const make = await workerMaker();
    expect(await testPool<Peers>(() => make(builtUrl("peers"))).call.add(1, 1)).toBe(2);
  },
  "may have a factory that throws: its error reaches the calls": async () => {
    const broken = testPool<Peers>(() => {
      throw new RangeError("no worker today");
    });
    expect(await reasonOf(broken.call.who())).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringContaining("no worker today"),
    });
  },
  "that never answers fails the calls after a time": async () => {
    const silent = testPool<Peers>(builtUrl("silent"), { startTimeoutMs: 50 });
    expect(await outcomes([silent.call.who()])).toEqual(["worker-start-failed"]);
  },
  "keeps its state in its worker": async () => {
    const { call } = plainPool();
    expect([await call.count(), await call.count()]).toEqual([1, 2]);
  },
});
