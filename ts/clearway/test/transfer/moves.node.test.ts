// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { move } from "clearway";
import { expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";
import { foreignRealm } from "./realms.js";

type Tasks = typeof import("../fixtures/process.tasks.js");

const make = (strict = false) => testPool<Tasks>(builtUrl("process"), { strict });

test("a view of Node's Buffer pool is copied without the rest of the pool, and the pool stays intact", async () => {
  const pool = make();
  const text = await pool.call.pooled();
  expect(new TextDecoder().decode(text)).toBe("from the pool");
  expect(text.buffer.byteLength).toBe(text.byteLength);
  expect(await pool.call.stillWorks()).toBe("still here");
  expect(pool.stats().ledger.fromWorkers.copies).toEqual({ "partial-view": { count: 1, bytes: 13 } });
  expect((await pool.call.pooledDeep()).text[0]).toHaveLength(3);
  expect((await pool.call.pooledSpread()).map((each) => each.buffer.byteLength)).toEqual([3, 3]);
  expect(await pool.call.stillWorks()).toBe("still here");
});

test("a view of Node's Buffer pool is refused under strict", async () => {
  expect(await reasonOf(make(true).call.pooled())).toMatchObject({ code: "would-copy" });
});

test.each([
  ["a small Buffer", () => Buffer.from("junk")],
  ["compressed bytes", () => gzipSync("junk")],
  ["joined Buffers", () => Buffer.concat([Buffer.from("ju"), Buffer.from("nk")])],
  ["a large Buffer", () => Buffer.alloc(70_000, 1)],
])("%s may be an argument under move(), whatever its size", async (_, buffer) => {
  const given = buffer();
  const bytes = new Uint8Array(given);
  const arrived = (await make().call.echo(move(given))) as Uint8Array;
  expect(new Uint8Array(arrived)).toEqual(bytes);
  expect(arrived.buffer.byteLength).toBe(bytes.byteLength);
});

test("a Buffer with its own memory moves", async () => {
  const pool = make(true);
  expect(await pool.call.whole(10_000)).toHaveLength(10_000);
  expect(pool.stats().ledger.fromWorkers).toMatchObject({ movedBytes: 10_000, copiedBytes: 0 });
});

test("a FileHandle moves", async () => {
  const { file } = await make().call.file(fileURLToPath(import.meta.url));
  expect((await file.readFile("utf8")).slice(0, 8)).toBe("// SPDX-");
  await file.close();
});

const context = createContext({});
foreignRealm((code) => runInContext(code, context));

type Borders = typeof import("../fixtures/borders.tasks.js");
const emptyModule = () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));

test("a value that another process cannot read fails at its sender, with its name, and no other call of the message", async () => {
  const { call } = testPool<Borders>(builtUrl("borders"), { processes: true, concurrency: 8 });
  expect(await call.echo(0)).toBe(0);
  const honest = Promise.all([1, 2, 3].map((each) => call.echo(each)));
  const refused = reasonOf(call.echo({ inside: emptyModule() }));
  const source = reasonOf(
    call.read(
      (async function* () {
        yield* [1, emptyModule(), 2];
      })(),
    ),
  );
  const later = call.echo(4);
  for (const reason of await Promise.all([refused, source]))
    expect(reason).toMatchObject({ code: "not-cloneable", message: expect.stringContaining("Module") });
  expect([await honest, await later]).toEqual([[1, 2, 3], 4]);
});
