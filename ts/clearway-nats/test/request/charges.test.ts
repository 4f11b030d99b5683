// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { encodeCall } from "../../src/wire/call.js";
import { Op, subjectsOf } from "../../src/wire/protocol.js";
import { weightOf } from "../../src/wire/weight.js";
import { noServer } from "../server/nats-server.js";
import { codec, oneServer, pair, peer, until } from "./ends.js";

const cancel = codec.encode([Op.cancel, "cancelled"]);

describe.skipIf(noServer)("what a caller pays for", () => {
  const nats = oneServer();

  test.each(["cancels them", "breaks the protocol", "no longer waits for them"])(
    "a caller that starts calls and %s pays for each one until its work has ended",
    async (how) => {
      const { server, module } = await pair(nats.url, { limits: { callsPerCallerMax: 3 } });
      const stranger = await peer(nats.url);
      const { call, worker } = subjectsOf(module, "0");
      const mine = worker(server.stats().workerId);
      const body = encodeCall(codec, { task: "byteLength", args: [new Uint8Array(1_000)], options: undefined });
      // The only thread of the worker process is busy, so the calls behind this one wait in the queue of its pool.
      stranger.send(call, encodeCall(codec, { task: "untilCancelled", args: [], options: {} }), "busy");
      for (const token of ["a", "b"]) {
        stranger.send(call, body, token);
        if (how === "cancels them") stranger.send(mine, cancel, token);
        else if (how === "breaks the protocol") stranger.send(mine, codec.encode([99]), token);
        else stranger.send(mine, codec.encode([Op.here, [token]]), "alive");
      }
      stranger.send(call, body, "c");
      expect(await stranger.failure("c")).toMatchObject({ code: "queue-full" });
      expect(server.stats().request).toMatchObject({ open: 1, calls: 3, refused: 1 });
      expect(server.stats().request!.bytes).toBeGreaterThan(2_000);
      stranger.send(mine, cancel, "busy");
      await until(() => server.stats().request!.bytes === 0);
      stranger.send(call, body, "d");
      expect(codec.decode((await stranger.next("d")).data)).toEqual([Op.result, 1_000]);
    },
  );

  test("the calls of a caller that gives no sign of life are paid for until their work has ended", async () => {
    const { server, module, pool } = await pair(nats.url, { limits: { callsMax: 2 } });
    const stranger = await peer(nats.url);
    const { call, worker } = subjectsOf(module, "0");
    for (const token of ["a", "b"])
      stranger.send(call, encodeCall(codec, { task: "untilCancelled", args: [], options: {} }), token);
    await until(() => server.stats().request!.open === 2);
    await expect(pool.call.add(1, 2)).rejects.toMatchObject({ code: "queue-full" });
    stranger.send(worker(server.stats().workerId), codec.encode([Op.here, ["a", "b"]]), "alive");
    await until(() => server.stats().request!.bytes === 0);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(server.stats().request!.open).toBe(0);
  });

  test("refused calls of any number of callers are not noted", async () => {
    const { server, module } = await pair(nats.url, { limits: { callsMax: 1 } });
    const stranger = await peer(nats.url);
    const { call } = subjectsOf(module, "0");
    const body = encodeCall(codec, { task: "untilCancelled", args: [], options: {} });
    stranger.send(call, body, "a");
    for (let each = 0; each < 100; each++) stranger.connection.publish(call, body, { reply: `caller.${each}.a` });
    await stranger.connection.flush();
    await until(() => server.stats().request!.refused === 100);
    expect(server.stats().request!.callers).toBe(1);
  });

  test("a caller pays for the memory of its values, and not only for their bytes on the wire", async () => {
    const { server, module } = await pair(nats.url, { limits: { bytesPerCallerMax: 1_000_000 } });
    const stranger = await peer(nats.url);
    const { call } = subjectsOf(module, "0");
    const values = Array.from({ length: 10_000 }, () => new Uint8Array(0));
    const small = encodeCall(codec, { task: "echo", args: [values], options: undefined });
    expect(small.length).toBeLessThan(30_000);
    stranger.send(call, small, "a");
    expect(await stranger.failure("a")).toMatchObject({ code: "queue-full" });
    await until(() => server.stats().request!.bytes === 0);
  });

  test("a caller pays for each stream into a task, also if it sends no values", async () => {
    const { server, module } = await pair(nats.url, { limits: { bytesPerCallerMax: 1_000_000 } });
    const stranger = await peer(nats.url);
    const { call } = subjectsOf(module, "0");
    const inputs = Array.from({ length: 1_000 }, (_, index) => index);
    const body = encodeCall(codec, { task: "untilCancelled", args: inputs.map(() => null), options: { inputs } });
    stranger.send(call, body, "a");
    expect(await stranger.failure("a")).toMatchObject({ code: "queue-full" });
    await until(() => server.stats().request!.bytes === 0);
  });
});

const many = 1_000;
const times = (make: (index: number) => unknown): unknown[] => Array.from({ length: many }, (_, index) => make(index));

// The memory that V8 took for each value, in bytes, measured when this test was written.
test.each<[string, number, (index: number) => unknown]>([
  ["empty objects", 66, () => ({})],
  ["empty lists", 42, () => []],
  ["lists of a value", 194, () => [null]],
  ["maps", 194, (index) => new Map([[index, 1]])],
  ["empty lists of bytes", 194, () => new Uint8Array(0)],
  ["texts", 34, (index) => `k${index}`],
  ["objects with keys of their own", 187, (index) => ({ [`k${index}`]: null })],
  ["big integers", 42, () => 2n ** 70n],
])("the weight and the bytes of %s are at least half of their memory", (_name, each, make) => {
  const bytes = codec.encode(times(make));
  const weight = bytes.length + weightOf(codec.decode(bytes));
  expect(weight).toBeGreaterThan((each * many) / 2);
});

test("numbers, and bytes in one list, weigh little more than their bytes", () => {
  expect(weightOf(new Uint8Array(1e6))).toBeLessThan(1_000);
  expect(weightOf([new Float64Array(1e6), "x".repeat(1e6)])).toBeLessThan(1_000);
  expect(weightOf(times((index) => index))).toBeLessThan(many * 10);
});

test("values in a circle, which only an extension can make, have a weight", () => {
  const circle: unknown[] = [];
  circle.push(circle, circle);
  expect(weightOf(circle)).toBeGreaterThan(0);
});
