// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: memory moves by ring and by port.
import { move } from "clearway";
import { describe, expect, test } from "vitest";
import { movesStreams, stacksHaveMessages } from "../fixtures/capabilities.js";
import { builtUrl, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Moves = typeof import("../fixtures/moves.tasks.js");

async function warm() {
  const pool = await warmed(testPool<Moves>(builtUrl("moves")));
  return { ...pool, ledger: () => pool.stats().ledger };
}

describe("a result", () => {
  test("with one buffer in several places moves it once", async () => {
    const { call, ledger } = await warm();
    const [first, second, buffer] = (await call.twice()) as [Uint8Array, Uint8Array, ArrayBuffer];
    expect(first).toBe(second);
    expect(first.buffer).toBe(buffer);
    expect(ledger().fromWorkers).toMatchObject({ movedBytes: 50, copiedBytes: 0 });
  });

  test("with WebAssembly memory arrives, together with moved memory", async () => {
    const { call } = await warm();
    const { wasm, own } = await call.wasmBesideOthers();
    expect([wasm.length, own.length]).toEqual([65_536, 100]);
  });

  test("with WebAssembly memory is copied, with the reason in the ledger", async () => {
    const { call, ledger } = await warm();
    expect(await call.wasm()).toHaveLength(65_536);
    expect(ledger().fromWorkers).toMatchObject({
      movedBytes: 0,
      copies: { "not-transferable": { count: 1, bytes: 65_536 } },
    });
  });

  test("with WebAssembly memory is refused under strict, without failing other calls", async () => {
    const pool = await warm();
    const [refused, fine] = await Promise.allSettled([
      pool.with({ strict: true }).call.wasm(),
      pool.with({ strict: true }).call.twice(),
    ]);
    expect((refused as PromiseRejectedResult).reason).toMatchObject({ code: "would-copy" });
    expect(fine.status).toBe("fulfilled");
  });

  test("with WebAssembly memory does not affect results in the same batch, whatever their size", async () => {
    const { call, ledger } = await warm();
    const [page, wasm, after] = await Promise.all([call.page(), call.wasm(), call.page()]);
    expect([page[0], wasm.length, after[0]]).toEqual([7, 65_536, 7]);
    expect(ledger().fromWorkers).toMatchObject({ movedBytes: 131_072, copiedBytes: 65_536 });
  });

  test("that was moved before fails alone, and its worker stays", async () => {
    const { call, stats } = await warm();
    expect(await call.sameAgain()).toHaveLength(1000);
    const [again, other] = await Promise.allSettled([call.sameAgain(), call.twice()]);
    expect((again as PromiseRejectedResult).reason).toMatchObject({
      code: "not-cloneable",
      message: expect.stringMatching(
        /^the result of sameAgain\(\) .*moved away with an earlier result.*move\(value, \[\]\)$/,
      ),
    });
    if (stacksHaveMessages)
      expect((again as PromiseRejectedResult).reason.stack).toContain("the result of sameAgain()");
    expect(other.status).toBe("fulfilled");
    expect(stats().workers.restarts).toBe(0);
  });

  test.runIf(typeof SharedArrayBuffer === "function")("in shared memory is shared", async () => {
    const { call, ledger } = await warm();
    expect((await call.shared()).buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(ledger().fromWorkers).toMatchObject({ sharedBytes: 64, movedBytes: 0, copiedBytes: 0 });
  });

  test("with a port brings a live port", async () => {
    const { call } = await warm();
    const { port } = await call.port();
    const answer = new Promise((resolve) => {
      port.onmessage = ({ data }) => resolve(data);
    });
    port.postMessage(21);
    expect(await answer).toBe(42);
    port.close();
  });

  test.runIf(movesStreams)("with a ReadableStream brings a live stream", async () => {
    const { call } = await warm();
    const stream = await call.stream();
    const reader = stream.getReader();
    expect((await reader.read()).value).toBe(1);
    expect((await reader.read()).value).toBe(2);
    expect((await reader.read()).done).toBe(true);
  });

  test("with more nodes than the search limit is copied beyond it, with the reason in the ledger", async () => {
    const { call, ledger } = await warm();
    expect(await call.searchLimited(20)).toHaveLength(20);
    expect(ledger().fromWorkers).toMatchObject({ movedBytes: 500, copies: { "search-limit": { count: 1 } } });
    expect(await call.notSearched(20)).toHaveLength(20);
    expect(ledger().fromWorkers.movedBytes).toBe(2500);
  });

  test("under move() is searched up to the task's limit, and at least up to the default one", async () => {
    const { call, ledger } = await warm();
    expect(await call.movesMany(20_000)).toHaveLength(20_000);
    expect(await call.movesDespiteLimit(20)).toHaveLength(20);
    expect(ledger().fromWorkers).toMatchObject({ movedBytes: 22_000, copiedBytes: 0 });
    expect(await reasonOf(call.movesMany(60_000))).toMatchObject({ code: "would-copy" });
  });

  test("with a function, or with move() inside it, is refused", async () => {
    const { call } = await warm();
    expect(await reasonOf(call.withFunction())).toMatchObject({ code: "not-cloneable" });
    expect(await reasonOf(call.moveInside())).toMatchObject({ code: "not-cloneable" });
  });

  test("that the carrier refuses is not in the ledger, because nothing crossed", async () => {
    const { call, ledger, with: withOptions } = await warm();
    const nothing = { movedBytes: 0, sharedBytes: 0, copiedBytes: 0, copies: {} };
    await reasonOf(call.withFunction());
    expect(ledger().fromWorkers).toEqual(nothing);
    await reasonOf(withOptions({ strict: true }).call.withFunction());
    expect(ledger().fromWorkers).toEqual(nothing);
    const stream = call.chunkWithFunction();
    expect(await reasonOf(stream.next())).toMatchObject({ code: "not-cloneable" });
    expect(ledger().fromWorkers).toEqual(nothing);
  });
});

describe("an argument under move()", () => {
  test("that the carrier refuses is not in the ledger, in a call or a stream", async () => {
    const { call, ledger } = await warm();
    const refused = () => move({ bytes: new Uint8Array(600), f: () => 1 }) as unknown as Uint8Array;
    expect(await reasonOf(call.length(refused()))).toMatchObject({ code: "not-cloneable" });
    async function* values() {
      yield refused();
    }
    expect(await reasonOf(call.lengths(values()))).toMatchObject({ code: "not-cloneable" });
    expect(ledger().toWorkers).toEqual({ movedBytes: 0, sharedBytes: 0, copiedBytes: 0, copies: {} });
  });

  test("may show a buffer that another argument shows, too: it moves once", async () => {
    const { call, ledger } = await warm();
    const buffer = new ArrayBuffer(100);
    expect(await call.lengthsOf(move(new Uint8Array(buffer)), move(new Uint16Array(buffer)))).toEqual([100, 100]);
    expect(ledger().toWorkers).toMatchObject({ movedBytes: 100, copiedBytes: 0 });
  });

  test("twice fails the second time, without failing other calls", async () => {
    const pool = await warm();
    const bytes = new Uint8Array(8);
    const answers = await Promise.allSettled([
      pool.call.length(move(bytes)),
      pool.call.length(move(bytes)),
      pool.call.length({ byteLength: 5 }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((answers[1] as PromiseRejectedResult).reason).toMatchObject({ code: "not-cloneable" });
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test("is counted as moved, and other arguments as copied, with the reason", async () => {
    const { call, ledger } = await warm();
    await call.length(move(new Uint8Array(100)));
    await call.length(new Uint8Array(30));
    await call.length(new Uint8Array(1000).subarray(0, 5));
    expect(ledger().toWorkers).toEqual({
      movedBytes: 100,
      sharedBytes: 0,
      copiedBytes: 35,
      copies: { "argument-not-moved": { count: 2, bytes: 35 } },
    });
  });

  test.runIf(typeof SharedArrayBuffer === "function")("is shared when it is in shared memory", async () => {
    const { call, ledger } = await warm();
    expect(await call.length(new Uint8Array(new SharedArrayBuffer(16)))).toBe(16);
    expect(ledger().toWorkers).toMatchObject({ sharedBytes: 16, copiedBytes: 0 });
  });
});
