// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests a worker whose server module (`lazy-server.js`) loads on demand.
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Pool, PoolOptions } from "clearway";
import { expect, onTestFinished, test } from "vitest";
import { gate, reasonOf, testPool } from "../fixtures/pools.js";

type Tasks = {
  default: {
    echo(value: unknown): unknown;
    later(value: unknown): Promise<unknown>;
    bytes(length: number): Uint8Array;
    part(): Uint8Array;
    spent(): ArrayBuffer;
    unclonable(): unknown;
    generator(): unknown;
    refuse(): never;
    reject(): Promise<never>;
    thenable(value: number): number;
    count(to: number): Generator<number>;
    onSignal(): Promise<never>;
    sees(): boolean;
    leave(): Promise<never>;
    hold(): Promise<string>;
    release(): void;
  };
};

const source = (name: string): string => `
  import { expose, task } from "./worker.mjs";
  const refusal = () => Object.assign(new RangeError("not today", { cause: new Error("why") }), { code: "E_DAY" });
  let release;
  const held = new Promise((resolve) => { release = () => resolve("released"); });
  export default expose({
    echo: (value) => value,
    later: async (value) => { await null; return value; },
    bytes: (length) => new Uint8Array(length),
    part: () => new Uint8Array(1000).subarray(10, 14),
    spent: () => { const buffer = new ArrayBuffer(8); structuredClone(buffer, { transfer: [buffer] }); return buffer; },
    unclonable: () => ({ inner: () => 1 }),
    generator: () => (function* () { yield 1; })(),
    refuse() { throw refusal(); },
    async reject() { await null; throw refusal(); },
    thenable: (value) => ({ then: (resolve) => resolve(value + 1) }),
    *count(to) { for (let at = 0; at < to; at++) yield at; },
    onSignal: task(({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))),
    sees: task(({ signal, cancelled, progress }) => { progress(1); return !signal.aborted && !cancelled; }),
    leave: () => new Promise(() => { new BroadcastChannel(${JSON.stringify(`${name}-leave`)}).onmessage = () => process.exit(3); }),
    hold: () => held,
    release: () => release(),
  });
`;

const dist = fileURLToPath(new URL("../../dist/node", import.meta.url));
const built = fileURLToPath(new URL("../fixtures/built/", import.meta.url));

interface Late {
  made: Pool<Tasks["default"]>;
  /** Settles when the first worker loads the server module. */
  asked: Promise<void>;
  /** Makes the module load in every worker from now on. */
  come(): void;
  /** Ends the worker in which `leave` waits. */
  leave(): void;
}

async function late(options: PoolOptions = {}): Promise<Late> {
  const folder = await mkdtemp(`${built}late-`);
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(dist, folder, { recursive: true });
  await cp(join(folder, "lazy-server.js"), join(folder, "aside.js"));
  const wait = `const gate = new BroadcastChannel(${JSON.stringify(folder)});
    await new Promise((resolve) => { gate.onmessage = ({ data }) => data === "come" && resolve(); gate.postMessage("asked"); });
    gate.close();
    export * from "./aside.js";`;
  await writeFile(join(folder, "lazy-server.js"), wait);
  await writeFile(join(folder, "tasks.mjs"), source(folder));
  const channel = new BroadcastChannel(folder);
  const leaving = new BroadcastChannel(`${folder}-leave`);
  onTestFinished(() => {
    channel.close();
    leaving.close();
  });
  const asked = gate();
  let open = false;
  channel.onmessage = (event) => {
    if ((event as MessageEvent).data !== "asked") return;
    asked.tell();
    if (open) channel.postMessage("come");
  };
  const come = (): void => {
    open = true;
    channel.postMessage("come");
  };
  const made = testPool<Tasks["default"]>(pathToFileURL(join(folder, "tasks.mjs")), options);
  await made.ready();
  const leave = (): void => leaving.postMessage("now");
  return { made, asked: asked.promise, come, leave };
}

const refused = { name: "RangeError", message: "not today", code: "E_DAY", cause: { message: "why" } };

test("calls of functions are answered in sequence before the server is loaded, with any result", async () => {
  const { made } = await late();
  expect(await made.call.echo(1)).toBe(1);
  expect(await made.call.echo({ list: [1, new Map([[1, new Date(0)]])] })).toEqual({
    list: [1, new Map([[1, new Date(0)]])],
  });
  expect(await made.call.later("soon")).toBe("soon");
  expect(await made.call.later({ deep: [1] })).toEqual({ deep: [1] });
  expect(await made.call.echo(undefined)).toBe(undefined);
  expect(await made.call.sees()).toBe(true);
});

test("buffers in results move, a partial view is copied without the rest, and the ledger counts both", async () => {
  const { made } = await late();
  expect((await made.call.bytes(1000)).byteLength).toBe(1000);
  const part = await made.call.part();
  expect([part.byteLength, part.buffer.byteLength]).toEqual([4, 4]);
  const { movedBytes, copies } = made.stats().ledger.fromWorkers;
  expect(movedBytes).toBe(1000);
  expect(copies).toEqual({ "partial-view": { count: 1, bytes: 4 } });
});

test("results that need the server arrive when it is loaded", async () => {
  const each: [keyof Tasks["default"], object][] = [
    ["refuse", refused],
    ["reject", refused],
    ["unclonable", { code: "not-cloneable" }],
    ["generator", { code: "not-cloneable" }],
    ["spent", { code: "not-cloneable" }],
  ];
  for (const [name, expected] of each) {
    const { made, asked, come } = await late();
    const answer = reasonOf((made.call[name] as () => PromiseLike<unknown>)());
    await asked;
    come();
    expect(await answer, name).toMatchObject(expected);
    expect(await made.call.echo("and on")).toBe("and on");
  }
});

test("a thenable that is not a promise is answered by the server", async () => {
  const { made, come } = await late();
  const answer = made.call.thenable(1);
  come();
  expect(await answer).toBe(2);
});

test("a stream waits for the server", async () => {
  const { made, asked, come } = await late();
  const stream = made.call.count(3);
  const values: number[] = [];
  const read = (async () => {
    for await (const value of stream) values.push(value);
  })();
  await asked;
  come();
  await read;
  expect(values).toEqual([0, 1, 2]);
});

test("a call that is running when the server is loaded is answered by the server", async () => {
  const { made, asked, come } = await late({ concurrency: 2 });
  const held = made.call.hold();
  await asked;
  come();
  await made.call.release();
  expect(await held).toBe("released");
});

test("a call with a signal waits for the server, and can be cancelled", async () => {
  const { made, asked, come } = await late();
  const leaving = new AbortController();
  const call = made.with({ signal: leaving.signal }).call.onSignal();
  await asked;
  come();
  leaving.abort(new Error("no longer"));
  expect(await reasonOf(call)).toMatchObject({ message: "no longer" });
  expect(await made.call.sees()).toBe(true);
});

test("a worker that exits in its first call fails that call, and the calls behind it run in another worker", async () => {
  const { made, asked, come, leave } = await late({ concurrency: 4 });
  const leaves = reasonOf(made.call.leave());
  await asked;
  const behind = [made.call.echo(1), made.call.echo(2)];
  leave();
  expect(await leaves).toMatchObject({ code: "worker-exited" });
  come();
  expect(await Promise.all(behind)).toEqual([1, 2]);
});

test("many concurrent calls are answered in order when the server is loaded", async () => {
  const { made, asked, come } = await late({ concurrency: 100 });
  const order: number[] = [];
  const calls = Array.from({ length: 50 }, (_, at) => made.call.echo(at).then((value) => order.push(value as number)));
  await asked;
  come();
  await Promise.all(calls);
  expect(order).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

test("a pool that never needed the server can be closed", async () => {
  const { made } = await late();
  expect(await made.call.echo(1)).toBe(1);
  await made.close();
  expect(made.stats().workers.restarts).toBe(0);
});
