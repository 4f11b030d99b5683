// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { move } from "clearway";
import { expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";
import { foreignRealm } from "./realms.js";

type NodeMoves = typeof import("../fixtures/node-moves.tasks.js");

const make = (strict = false) => testPool<NodeMoves>(builtUrl("node-moves"), { strict });

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
