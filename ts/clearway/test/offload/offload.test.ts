// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, move } from "clearway";
import { builtTask, type OffloadOptions, offload, type TaskPlace } from "clearway/offload";
import { afterEach, describe, expect, test } from "vitest";
import { builtUrl, reasonOf } from "../fixtures/pools.js";

// Without a build: these tests write by hand what the build plugin writes.
const place: TaskPlace = {
  file: "offloaded",
  name: "task0",
  url: builtUrl("offloaded").href,
  base: import.meta.url,
  worker: builtUrl("offload-worker").href,
};
const task = (number: number, ...captures: unknown[]): never =>
  builtTask({ ...place, name: `task${number}` }, ...captures);

afterEach(() => offload.terminate());

describe("offload()", () => {
  test("runs a function of a task file with its arguments", async () => {
    expect(await offload<[number, number], number>(task(0), 2, 3)).toBe(5);
  });

  test("passes captured values before the arguments, and copies them", async () => {
    const names = ["a", "b"];
    const first = offload<[number], string>(task(1, 10, names), 4);
    expect(await first).toBe("a+b=40");
    names.push("c");
    expect(await offload<[number], string>(task(1, 2, names), 4)).toBe("a+b+c=8");
  });

  test("passes no value more than the call has", async () => {
    expect(await offload<unknown[], number>(task(6))).toBe(0);
    expect(await offload<unknown[], number>(task(6), undefined, undefined)).toBe(2);
  });

  test("returns the stream of a generator, and ends it with a break", async () => {
    const numbers = offload<[number], AsyncGenerator<number, void>>(
      builtTask({ ...place, name: "task2", stream: true }, 3),
      100,
    );
    const seen: number[] = [];
    for await (const each of numbers) {
      seen.push(each);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([0, 3, 6]);
  });

  test("moves an argument under move()", async () => {
    const bytes = new Uint8Array(4096);
    expect(await offload<[Uint8Array], number>(task(3), move(bytes))).toBe(4096);
    expect(bytes.byteLength).toBe(0);
  });

  test("rejects with the function's own error, on a cold and a warm worker", async () => {
    for (let turn = 0; turn < 2; turn++) {
      expect(await reasonOf(offload<[], void>(task(4)))).toMatchObject({
        name: "RangeError",
        message: "too far",
        at: 7,
      });
    }
  });

  test("runs many calls at the same time", async () => {
    const calls = Array.from({ length: 200 }, (_, at) => offload<[number, number], number>(task(0), at, at));
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 200 }, (_, at) => 2 * at));
  });

  test("names the capture's fault if a captured value cannot be cloned, and other calls go on", async () => {
    const bad = offload<[number], string>(
      task(1, 2, () => 1),
      4,
    );
    const good = offload<[number, number], number>(task(0), 1, 1);
    expect((await reasonOf(bad)).code).toBe("not-cloneable");
    expect(await good).toBe(2);
  });
});

describe("offload() without its build plugin", () => {
  test("refuses a function, and says both ways to go on", async () => {
    const reason = await reasonOf(offload((a: number) => a, 1));
    expect(reason).toBeInstanceOf(ClearwayError);
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain('import clearway from "clearway-build/vite"');
    expect(reason.message).toContain("expose({ work })");
  });

  test("throws for a generator, whose stream nobody awaits", () => {
    expect(() => offload(function* () {})).toThrow(/build plugin/);
    expect(() => offload(async function* () {})).toThrow(/build plugin/);
  });

  test("refuses what is no function", async () => {
    const wrong = offload as unknown as (fn: unknown) => Promise<unknown>;
    expect((await reasonOf(wrong("x => x"))).message).toBe('fn must be a function: fn="x => x"');
    expect((await reasonOf(wrong(undefined))).message).toBe("fn must be a function: fn=undefined");
  });
});

describe("offload.with()", () => {
  test("rejects with the reason of the signal when it aborts", async () => {
    const abort = new AbortController();
    const call = offload.with({ signal: abort.signal })<[], unknown>(task(5));
    abort.abort(new Error("enough"));
    expect((await reasonOf(call)).message).toBe("enough");
  });

  test("limits the time of a call, which does not end the pool", async () => {
    const reason = await reasonOf(offload.with({ deadlineMs: 1 })<[], unknown>(task(5)));
    expect(reason.code).toBe("deadline");
    expect(await offload<[number, number], number>(task(0), 1, 2)).toBe(3);
  });

  test("refuses an unknown option with the nearest name, and the options of a task module", () => {
    expect(() => offload.with({ timeoutMS: 1 } as OffloadOptions)).toThrow(/nearest is timeoutMs/);
    expect(() => offload.with({ priority: Number.NaN })).toThrow(/priority must be a finite number/);
    for (const given of [{ placement: "inline" }, { slices: false }])
      expect(() => offload.with(given as OffloadOptions)).toThrow(/known option/);
    expect(() => offload.with({ onProgress: () => {} } as OffloadOptions)).toThrow(/known option/);
  });

  test("reads an option once", async () => {
    let reads = 0;
    const options = {
      get priority() {
        return ++reads;
      },
    };
    const urgent = offload.with(options);
    await urgent<[number, number], number>(task(0), 1, 1);
    await urgent<[number, number], number>(task(0), 1, 1);
    expect(reads).toBe(1);
  });
});

describe("the end of the pool", () => {
  test("close() lets open calls finish, and a later call makes a new pool", async () => {
    const open = offload<[number, number], number>(task(0), 1, 1);
    const closed = offload.close();
    expect(await open).toBe(2);
    await closed;
    expect(await offload<[number, number], number>(task(0), 2, 2)).toBe(4);
  });

  test("a function of with() also works after the pool was closed", async () => {
    const urgent = offload.with({ priority: 1 });
    expect(await urgent<[number, number], number>(task(0), 1, 1)).toBe(2);
    await offload.close();
    expect(await urgent<[number, number], number>(task(0), 2, 2)).toBe(4);
  });

  test("terminate() fails open calls, and both do nothing without a pool", async () => {
    const open = offload<[], unknown>(task(5));
    const failed = reasonOf(open);
    await offload.terminate();
    expect((await failed).code).toBe("pool-terminated");
    await offload.terminate();
    await offload.close();
  });

  test("close() refuses an unknown option, and leaves the pool as it is", async () => {
    await offload<[number, number], number>(task(0), 1, 1);
    const open = reasonOf(offload<[], unknown>(task(5)));
    expect((await reasonOf(offload.close({ timeout: 1 } as object))).code).toBe("invalid-argument");
    await offload.terminate();
    expect((await open).code).toBe("pool-terminated");
  });
});

describe("a task file", () => {
  test("that is missing fails its calls with its URL and the import's error, and other calls go on", async () => {
    const url = new URL("./missing-task-file.js", import.meta.url).href;
    const reason = await reasonOf(offload<[], unknown>(builtTask({ ...place, file: "missing", url })));
    expect(reason).toMatchObject({ code: "unknown-task", message: expect.stringContaining(url) });
    expect((reason as Error).cause).toBeInstanceOf(Error);
    expect(await offload<[number, number], number>(task(0), 1, 2)).toBe(3);
  });

  test("of another build fails its calls with unknown-task", async () => {
    const renamed = await reasonOf(offload<[], unknown>(builtTask({ ...place, file: "offloaded-2" })));
    expect(renamed).toMatchObject({ code: "unknown-task", message: expect.stringContaining("build the app again") });
    const names = ["task99", "constructor", "__proto__"];
    for (const name of names) {
      const reason = await reasonOf(offload<[], unknown>(builtTask({ ...place, name })));
      expect(reason).toMatchObject({ code: "unknown-task", message: expect.stringContaining(name) });
    }
  });

  test("has a URL relative to the module that calls", async () => {
    const base = builtUrl("offloaded").href;
    const relative = { ...place, base, url: "./offloaded.tasks.js", worker: "./offload-worker.tasks.js" };
    expect(await offload<[number, number], number>(builtTask(relative), 4, 5)).toBe(9);
  });

  test("that refers to itself is known only in a worker that runs it", () => {
    expect(() => offload<[], unknown>(builtTask({ ...place, url: undefined }))).toThrow(/not in this worker/);
  });
});
