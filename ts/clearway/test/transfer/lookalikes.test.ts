// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: values cross by ring, by port and by pipes.
// Child processes, too: values cross by ring, by port and by pipes.
import { callback, proxy } from "clearway/callback";
import { registerTransfer } from "clearway/transfer";
import { expect, onTestFinished, test } from "vitest";
import fc, { cases } from "../fixtures/fast-check.js";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Borders = typeof import("../fixtures/borders.tasks.js");

class Money {}

async function warm() {
  const pool = testPool<Borders>(builtUrl("borders"));
  for (let at = 0; at < 3; at++) await pool.call.echo(at);
  await pool.ping();
  return pool;
}
type Call = Awaited<ReturnType<typeof warm>>["call"];

/** The places in which a value of the app crosses. Each returns what has come back. */
const places: Record<string, (call: Call, value: unknown) => Promise<unknown>> = {
  "an argument and a result": (call, value) => call.echo(value),
  "a part of an argument": async (call, value) => ((await call.echo({ in: [value] })) as { in: unknown[] }).in[0],
  "a value of a map": async (call, value) => ((await call.echo(new Map([[1, value]]))) as Map<number, unknown>).get(1),
  "a value of a stream": async (call, value) => {
    for await (const each of call.values([value])) return each;
    return undefined;
  },
  "the last value of a stream": async (call, value) => {
    const stream = call.values([value]);
    await stream.next();
    return (await stream.next()).value;
  },
  "a value of a stream argument": async (call, value) =>
    (
      await call.read(
        (async function* () {
          yield value;
        })(),
      )
    )[0],
  "an argument and a value of a callback": (call, value) =>
    call.ask(
      value,
      callback((each) => each),
    ),
  "an argument and a value of a method": (call, value) => call.proxied(value, proxy({ back: (each: unknown) => each })),
  "a thrown value": (call, value) => call.throws(value).catch((thrown: unknown) => thrown),
  "a property of an error": async (call, value) => {
    const thrown = await call.throwsWith(value).catch((reason: unknown) => reason);
    return (thrown as { body: unknown }).body;
  },
  "the cause of an error": async (call, value) => {
    const thrown = await call.throwsWith(value).catch((reason: unknown) => reason);
    return (thrown as Error).cause;
  },
};

const wireError = { base: "Error", name: "Error", message: "m", stack: "s", props: [["a", 1]] };
const tableMessage = { version: 1, columns: [], chunks: [] };
const lookalikes: readonly unknown[] = [
  { "clearway:records": { handled: 1, root: { admin: true }, parts: [] } },
  { "clearway:records": { handled: 1, root: { admin: true }, parts: [[{}, "money", { n: 1 }]] } },
  { "clearway:records": tableMessage },
  { "clearway:records": 5 },
  { root: { admin: true }, parts: [[{}, "money", { n: 1 }]] },
  [1, { "clearway:records": tableMessage }],
  [2, { root: {}, parts: [[{}, "money", 1]] }],
  wireError,
  { value: wireError },
  [1, undefined, wireError],
  [1, [1], [2]],
  [73, 1, [1, {}], 0],
  [9, 1, "result", 5, 10, 1, wireError, 0],
  [0, 0, { clearway: 1 }, 0],
  { clearway: 1 },
  { clearway: new Uint8Array([255, 15]) },
  { clearwayEnding: true },
  { clearwayLifeline: "clearway:x" },
];

test.each(Object.keys(places))(
  "data that looks like a message of the library crosses unchanged as %s",
  async (place) => {
    let deserialized = 0;
    onTestFinished(
      registerTransfer("money", {
        class: Money,
        serialize: () => [{}, []],
        deserialize: () => {
          deserialized++;
          return new Money();
        },
      }),
    );
    const { call } = await warm();
    for (const value of lookalikes) expect([value, await places[place]!(call, value)]).toEqual([value, value]);
    // Values in one message do not change each other.
    const all = await Promise.all(lookalikes.map((value) => places[place]!(call, value)));
    expect(all).toEqual(lookalikes);
    expect(deserialized).toBe(0);
  },
);

test("data made of the library's words crosses unchanged, in any nesting", async () => {
  const { call } = await warm();
  const words = fc.constantFrom(
    "clearway:records",
    "handled",
    "root",
    "parts",
    "base",
    "value",
    "clearway",
    "__proto__",
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(0, 1, 2, 9, 64, 73, 84, null, undefined, "money", ...lookalikes),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(words, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom(...Object.keys(places)), async (each, place) => {
      expect(await places[place]!(call, each)).toEqual(structuredClone(each));
    }),
    { numRuns: cases(200) },
  );
});

test("data that looks like a message of the library is a value of progress", async () => {
  const pool = await warm();
  const told: unknown[] = [];
  for (const value of lookalikes) await pool.with({ onProgress: (each: unknown) => told.push(each) }).call.tells(value);
  expect(told).toEqual(lookalikes);
});
