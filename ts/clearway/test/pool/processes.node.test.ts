// SPDX-License-Identifier: MIT OR Apache-2.0
// What differs if a pool's workers are child processes. The project `node-processes` runs the other suites over them.
import { Worker } from "node:worker_threads";
import { move, type PoolOptions, pool, run } from "clearway";
import { describe, expect, test } from "vitest";
import { encodeMessage, ProcessMessage } from "../../src/host/node/process-messages.js";
import { builtUrl, gate, reasonOf, testPool } from "../fixtures/pools.js";
import { runs, taskFolder } from "../fixtures/task-folder.js";

type Tasks = typeof import("../fixtures/process.tasks.js");

const url = builtUrl("process");
const processPool = (options: PoolOptions = {}) => testPool<Tasks>(url, { processes: true, ...options });

const children = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "ProcessWrap").length;

describe("a worker of a pool with processes", () => {
  test("is another process, and another one for each worker", async () => {
    const made = processPool({ size: 2 });
    await made.ready();
    const pids = await made.broadcast.pid();
    expect(new Set([process.pid, ...pids]).size).toBe(3);
  });

  test("runs the one call of run(), and ends", async () => {
    const pid = await run<Tasks>(url, { processes: true }).call.pid();
    expect(pid).not.toBe(process.pid);
    await expect.poll(() => runs(pid)).toBe(false);
  });

  test.each([
    ["segfault", "SIGSEGV"],
    ["abort", "SIGABRT"],
  ] as const)("that ends by %s fails only its calls, with the signal's name, and is replaced", async (name, signal) => {
    const made = processPool({ size: 2, stderr: { write() {} } });
    await made.ready();
    const other = made.call.later(100);
    const { code, message } = await reasonOf(made.call[name]() as Promise<never>);
    expect([code, message]).toEqual(["worker-exited", `the signal ${signal} ended the worker's process`]);
    expect(await other).toBe("done");
    expect(await made.call.add(1, 2)).toBe(3);
    expect(made.stats().workers.restarts).toBe(1);
  });

  test("that is killed from outside is replaced", async () => {
    const exited = gate<unknown>();
    const made = processPool({ onWorker: (event) => event.type === "exited" && exited.tell(event.error) });
    process.kill(await made.call.pid(), "SIGKILL");
    expect(await exited.promise).toMatchObject({ code: "worker-exited", message: expect.stringContaining("SIGKILL") });
    expect(await made.call.add(1, 2)).toBe(3);
  });

  test("runs a module of TypeScript with the loader of its app", async () => {
    const { url: file } = taskFolder({
      "typed.tasks.ts":
        'import { expose } from "clearway/worker"; enum Base { Ten = 10 } export default expose({ add: (a: number, b: number): number => a + b + Base.Ten });',
    });
    const made = testPool<Tasks>(file("typed.tasks.ts"), { processes: true });
    expect(await made.call.add(1, 2)).toBe(13);
  });

  test("that closes its channel ends, and fails its calls", async () => {
    const made = processPool();
    expect(await reasonOf(made.call.disconnect())).toMatchObject({ code: "worker-exited" });
    expect(await made.call.add(1, 2)).toBe(3);
  });

  test("that exits before its answer was sent fails the call, and does not hang", async () => {
    const made = processPool();
    await made.ready();
    const answer = made.call.leaveWithBytes(32 * 2 ** 20);
    // How much of the answer is sent depends on the pipe. Either all of it arrives, or the call fails.
    await answer.then(
      (bytes) => expect(bytes).toHaveLength(32 * 2 ** 20),
      (reason) => expect(reason).toMatchObject({ code: "worker-exited" }),
    );
    expect(await made.call.add(1, 2)).toBe(3);
  });

  test("reports an uncaught error while it is idle, with its class and its properties", async () => {
    const told = gate<unknown>();
    const made = processPool({ onError: told.tell });
    expect(await made.call.throwsLater()).toBe("answered");
    const error = (await told.promise) as Error & { detail: unknown };
    expect(error).toBeInstanceOf(RangeError);
    expect([error.message, error.detail]).toEqual(["later", new Map([[1, 2]])]);
    expect(await made.call.add(1, 2)).toBe(3);
  });

  test("may handle its uncaught errors itself", async () => {
    const made = processPool();
    expect(await made.call.handlesUncaught()).toBe("handled here");
    expect(made.stats().workers.restarts).toBe(0);
  });

  test("that reaches its memory limit fails its call with out-of-memory", async () => {
    const made = processPool({ resourceLimits: { maxOldGenerationSizeMb: 24 }, stderr: { write() {} } });
    await made.ready();
    expect(await reasonOf(made.call.fill())).toMatchObject({ code: "out-of-memory" });
    expect(await made.call.add(1, 2)).toBe(3);
  });

  test("may send messages of its own on the channel", async () => {
    const made = processPool();
    expect(await made.call.sendsOwnMessages()).toBe("sent");
    expect(await made.call.add(1, 2)).toBe(3);
  });

  test("that blocks is killed when its call is over its limit", async () => {
    const made = processPool({ graceMs: 10 });
    const pid = await made.call.pid();
    expect(await reasonOf(made.with({ timeoutMs: 1 }).call.hotLoop())).toMatchObject({ code: "timeout" });
    await expect.poll(() => runs(pid)).toBe(false);
    expect(await made.call.add(1, 2)).toBe(3);
  });
});

describe("memory that crosses to a process and back", () => {
  test("is copied, and the ledger says why; move() still takes it from the caller", async () => {
    const made = processPool();
    const [moved, copied] = [new Uint8Array(1000).fill(1), new Uint8Array(500).fill(2)];
    expect(await made.call.echo(move(moved))).toEqual(new Uint8Array(1000).fill(1));
    expect(await made.call.echo(copied)).toEqual(copied);
    expect([moved.byteLength, copied.byteLength]).toEqual([0, 500]);
    const side = {
      movedBytes: 0,
      sharedBytes: 0,
      copiedBytes: 1500,
      copies: { "other-process": { count: 2, bytes: 1500 } },
    };
    expect(made.stats().ledger).toEqual({ toWorkers: side, fromWorkers: side });
  });

  test("arrives as buffers of its own, and views of one buffer still share it", async () => {
    const made = processPool();
    const buffer = new ArrayBuffer(64);
    const [a, b] = (await made.call.echo([new Uint8Array(buffer, 0, 8), new Uint8Array(buffer)])) as Uint8Array[];
    expect(b!.buffer.byteLength).toBe(64);
    a![0] = 9;
    expect(b![0]).toBe(9);
  });

  test("leaves the task that returns it, as in a thread", async () => {
    const made = processPool();
    expect(await made.call.again()).toHaveLength(1000);
    expect(await reasonOf(made.call.again())).toMatchObject({ code: "not-cloneable" });
  });

  test("is refused under strict in both directions, and the message says why", async () => {
    const { call } = processPool({ strict: true });
    const bytes = new Uint8Array(10);
    for (const answer of [call.echo(bytes), call.echo(move(bytes)), call.bytes(10)]) {
      const { code, message } = await reasonOf(answer);
      expect([code, message]).toEqual([
        "would-copy",
        "strict: 10 bytes would have been copied (other-process): the worker is a child process, and nothing moves between processes",
      ]);
    }
    expect(bytes).toHaveLength(10);
    expect(await call.add(1, 2)).toBe(3);
  });

  test("in streams of both directions crosses with credit, whatever the speed of the reader", async () => {
    const made = processPool({ window: { items: 2, bytes: 100_000 } });
    await made.ready();
    let drawn = 0;
    const numbers = async function* () {
      for (; drawn < 100; drawn++) yield drawn;
    };
    expect(await made.call.sum(numbers())).toBe(4950);
    let at = 0;
    for await (const each of made.call.values(30, 90_000)) {
      expect([each.length, each[0]]).toEqual([90_000, at++]);
    }
    expect(at).toBe(30);
  });

  test("is refused with not-cloneable if processes cannot exchange it", async () => {
    const made = processPool();
    const refused: [string, () => unknown][] = [
      ["a Blob", () => new Blob(["x"])],
      ["a port inside an object", () => ({ list: [new Map([["port", new MessageChannel().port1]])] })],
      ["a stream inside an object", () => ({ stream: new ReadableStream() })],
      ["shared memory", () => new SharedArrayBuffer(8)],
      ["a moved port", () => move(new MessageChannel().port1)],
      ["a function", () => [() => 1]],
    ];
    for (const [name, make] of refused) {
      expect(await reasonOf(made.call.echo(make())), name).toMatchObject({ code: "not-cloneable" });
      expect(await made.call.add(1, 2), name).toBe(3);
    }
    for (const name of ["blob", "nested"] as const)
      expect(await reasonOf(made.call[name]() as Promise<never>), name).toMatchObject({ code: "not-cloneable" });
    expect(made.stats().workers.restarts).toBe(0);
  });

  test("is refused if its message is longer than the channel allows", () => {
    const encode = (bytes: number): unknown => encodeMessage(ProcessMessage.Posted, new Uint8Array(bytes), 100);
    expect(() => encode(50)).not.toThrow();
    expect(() => encode(100)).toThrow(/bytes is too long for another process \(at most 100\)/);
  });
});

describe("an error with parts that only threads can exchange", () => {
  test("arrives without them", async () => {
    const made = processPool();
    const error = (await reasonOf(made.call.throwsParts())) as Error & { shared: unknown; at: number };
    expect(error).toBeInstanceOf(RangeError);
    expect([error.message, error.at, error.shared]).toEqual(["parts", 7, expect.stringContaining("not cloneable")]);
    expect(error.cause).toMatchObject({ message: "inner", blob: expect.stringContaining("not cloneable") });
    expect(await made.call.throwsBlob().catch((thrown: unknown) => thrown)).toContain("not cloneable");
    const { cause } = await made.call.throwsPartsLater().catch((reason: Error) => reason);
    expect(cause).toMatchObject({ message: "later", reason: expect.stringContaining("not cloneable") });
  });

  test("ends a stream after its values", async () => {
    const stream = processPool().call.throwsPartsAfter();
    expect((await stream.next()).value).toBe(1);
    expect(await reasonOf(stream.next())).toMatchObject({ message: "after" });
  });

  test("reaches a task: as the reason of its signal, and as the end of its input", async () => {
    const made = processPool({ graceMs: 600_000 });
    const reason = Object.assign(new Error("enough"), { blob: new Blob(["x"]) });
    const abort = new AbortController();
    const onProgress = (): void => abort.abort(reason);
    expect(await reasonOf(made.with({ signal: abort.signal, onProgress }).call.waitsForAbort())).toBe(reason);
    const numbers = async function* () {
      yield 1;
      throw reason;
    };
    expect(await reasonOf(made.call.sum(numbers()))).toMatchObject({ message: "enough" });
    expect(made.stats().workers.restarts).toBe(0);
  });
});

describe("the options of a pool with processes", () => {
  test("are refused if only threads can have them", async () => {
    const { SHARE_ENV } = await import("node:worker_threads");
    const refusal = (options: PoolOptions, message: string): void => {
      const error = expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(message) });
      expect(() => pool(url, { processes: true, ...options })).toThrowError(error);
    };
    refusal({ env: SHARE_ENV }, "env must be an object of strings if processes is true");
    refusal({ resourceLimits: { stackSizeMb: 4 } }, "resourceLimits.stackSizeMb must be left out if processes is true");
    refusal({ processes: 1 as unknown as boolean }, "processes must be of type boolean: processes=1");
    refusal({ process: true } as PoolOptions, "the nearest is processes");
    expect(() => pool(() => new Worker(url), { processes: true })).toThrowError(
      expect.objectContaining({
        code: "invalid-argument",
        message: expect.stringContaining("a function returns a thread"),
      }),
    );
  });
});

describe("calls of a pool with processes fail with worker-start-failed", () => {
  const failure = async (source: URL | string, options: PoolOptions = {}): Promise<string> => {
    const made = testPool<Tasks>(source, { processes: true, stderr: { write() {} }, ...options });
    const { code, message } = await reasonOf(made.call.add(1, 2));
    expect(code).toBe("worker-start-failed");
    return message ?? "";
  };

  test("for a file that does not exist, whose path the message names", async () => {
    expect(await failure(new URL("file:///none/no.tasks.js"))).toContain("there is no file /none/no.tasks.js");
  });

  test("for a module that throws, with its error", async () => {
    expect(await failure(builtUrl("throws"))).toContain("could not be started: ");
  });

  test("for a module that does not call expose()", async () => {
    expect(await failure(builtUrl("silent"))).toContain("ended before it called expose()");
  });

  test("for data that only threads can exchange", async () => {
    await failure(url, { workerData: new Blob(["x"]) });
  });

  test("for a text that is neither a path nor a URL", async () => {
    expect(await failure("tasks")).toContain("an absolute path");
  });
});

test("pools that end at any moment leave no process and no handle behind", async () => {
  const before = children();
  const moments: ((made: ReturnType<typeof processPool>) => unknown)[] = [
    () => {},
    () => new Promise((resolve) => setImmediate(resolve)),
    (made) => void made.call.later(1).catch(() => {}),
    (made) => made.ready(),
    (made) => made.call.add(1, 2),
    async (made) => {
      const started = gate<unknown>();
      void made
        .with({ onProgress: started.tell })
        .call.hotLoop()
        .catch(() => {});
      await started.promise;
    },
    async (made) => {
      const pid = await made.call.pid();
      process.kill(pid, "SIGKILL");
    },
    async (made) => void (await made.call.values(10, 1000).next()),
    (made) => void made.call.leaveWithBytes(2 ** 20).catch(() => {}),
  ];
  for (const end of ["terminate", "close"] as const) {
    for (const moment of moments) {
      const made = processPool({ size: 2, graceMs: 10, stderr: { write() {} } });
      await moment(made);
      await (end === "close" ? made.close({ timeoutMs: 50 }) : made.terminate());
      expect(children()).toBe(before);
    }
  }
  expect(process.listeners("exit").filter(({ name }) => name === "endAll")).toEqual([]);
});
