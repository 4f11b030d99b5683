// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "clearway/remote";
import { expect, test } from "vitest";
import { creditMax } from "../../src/stream/credit.js";
import { Incoming } from "../../src/stream/incoming.js";
import { Outgoing, ProgressSender } from "../../src/stream/outgoing.js";
import { fields, wireCodec } from "../../src/wire/call.js";
import fc from "../fixtures/fast-check.js";

const codec = wireCodec();

/** A sender and a reader, connected without a delay. */
function connect(
  batches: readonly (readonly unknown[])[],
  window: { items: number; bytes: number },
): { incoming: Incoming; charged: () => number; most: () => number; read: () => number } {
  let [charged, most, read] = [0, 0, 0];
  const source = {
    next: async (): Promise<IteratorResult<readonly unknown[]>> =>
      read < batches.length ? { done: false, value: batches[read++]! } : { done: true, value: "end" },
  };
  const outgoing = new Outgoing(-1, source, {
    codec,
    drained: () => undefined,
    send: (bytes) => incoming.add(fields(codec, bytes, false)[2], bytes.length),
    ended: (value) => incoming.end(value),
    failed: (reason) => incoming.fail(reason),
  });
  const incoming = new Incoming(window, {
    grant: ({ items, bytes }) => outgoing.grant(items, bytes),
    charge: {
      take: (bytes) => {
        charged += bytes;
        most = Math.max(most, charged);
      },
      give: (bytes) => {
        charged -= bytes;
      },
    },
  });
  return { incoming, charged: () => charged, most: () => most, read: () => read };
}

const value = fc.oneof(fc.integer(), fc.string({ maxLength: 20 }), fc.uint8Array({ maxLength: 200 }));
const windows = fc.record({ items: fc.integer({ min: 1, max: 40 }), bytes: fc.integer({ min: 1, max: 500 }) });

test("a reader receives every value in order, with any window and any way of reading", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(value, { minLength: 1, maxLength: 30 }), { maxLength: 10 }),
      windows,
      fc.infiniteStream(fc.boolean()),
      async (batches, window, ways) => {
        const { incoming, charged } = connect(batches, window);
        const seen: unknown[] = [];
        for (;;) {
          const batch = ways.next().value as boolean;
          const result = await incoming.next(batch);
          if (result.done) {
            expect(result.value).toBe("end");
            break;
          }
          seen.push(...(batch ? (result.value as unknown[]) : [result.value]));
        }
        expect(seen).toEqual(batches.flat());
        expect(charged()).toBe(0);
      },
    ),
  );
});

test("what waits for a reader stays within its window, but for one message", async () => {
  const batches = Array.from({ length: 100 }, () => Array.from({ length: 10 }, () => new Uint8Array(1_000)));
  const { incoming, most } = connect(batches, { items: 50, bytes: 20_000 });
  for (let result = await incoming.next(false); !result.done; result = await incoming.next(false));
  expect(most()).toBeLessThan(20_000 + 12_000);
});

test("large values are sent in messages of bounded size", async () => {
  const sizes: number[] = [];
  const values = Array.from({ length: 100 }, () => new Uint8Array(10_000));
  let given = false;
  const outgoing = new Outgoing(
    3,
    {
      next: async () => {
        if (given) return { done: true, value: undefined };
        given = true;
        return { done: false, value: values };
      },
    },
    { codec, drained: () => undefined, send: (bytes) => sizes.push(bytes.length), ended: () => {}, failed: () => {} },
  );
  outgoing.grant(1_000, 10_000_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
  expect(sizes.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(1_000_000);
});

test("values without credit, and credit that is no amount, throw protocol", () => {
  const { incoming } = connect([], { items: 2, bytes: 100 });
  expect(() => incoming.add([1], 10)).toThrow(ClearwayError);
  const outgoing = new Outgoing(
    0,
    { next: () => new Promise(() => {}) },
    { codec, drained: () => undefined, send: () => {}, ended: () => {}, failed: () => {} },
  );
  for (const [items, bytes] of [
    [-1, 1],
    [0.5, 1],
    [1, Number.NaN],
    ["1", 1],
    [1, null],
    [Number.POSITIVE_INFINITY, 1],
  ])
    expect(() => outgoing.grant(items, bytes)).toThrow(ClearwayError);
  expect(() => outgoing.grant(creditMax.items * 10, Number.POSITIVE_INFINITY)).not.toThrow();
});

test("reads that wait when a stream fails receive the error once, and then the end", async () => {
  const { incoming } = connect([], { items: 2, bytes: 100 });
  const failing = new Incoming(
    { items: 2, bytes: 100 },
    { grant: () => {}, charge: { take: () => {}, give: () => {} } },
  );
  const [first, second] = [failing.next(false), failing.next(true)];
  failing.fail(new Error("broken"));
  await expect(first).rejects.toThrow("broken");
  expect(await second).toEqual({ done: true, value: undefined });
  expect(await incoming.next(false)).toEqual({ done: true, value: "end" });
});

test("values that wait for their reader are charged with their memory, and not only with their bytes", async () => {
  let charged = 0;
  const charge = {
    take: (bytes: number) => {
      charged += bytes;
    },
    give: (bytes: number) => {
      charged -= bytes;
    },
  };
  const incoming = new Incoming({ items: 100, bytes: 1_000 }, { grant: () => {}, charge });
  incoming.opened();
  incoming.add([new Uint8Array(0), new Uint8Array(0), new Uint8Array(0)], 10);
  expect(charged).toBeGreaterThan(600);
  await incoming.next(false);
  expect(charged).toBeGreaterThan(400);
  await incoming.next(true);
  expect(charged).toBe(0);
});

test("a stream delivers all values before one that cannot be encoded", async () => {
  const { incoming } = connect([[1, 2, 3, 4, 5, Symbol("no form"), 7]], { items: 100, bytes: 10_000 });
  const seen: unknown[] = [];
  for (let at = 0; at < 5; at++) seen.push((await incoming.next(false)).value);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  await expect(incoming.next(false)).rejects.toMatchObject({ code: "not-encodable" });
});

test("progress of a task does not pile up while the network is slow: the newest values wait", async () => {
  const sent: unknown[] = [];
  let network: { promise: Promise<void>; opens: () => void } | undefined;
  const close = (): void => {
    let opens!: () => void;
    network = { promise: new Promise((resolve) => (opens = resolve)), opens: () => opens() };
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const sender = new ProgressSender(
    codec,
    (bytes) => sent.push(fields(codec, bytes, false)[1]),
    () => {},
    () => network?.promise,
  );
  close();
  for (let at = 0; at < 500; at++) {
    sender.add(at);
    if (at % 10 === 0) await turn();
  }
  expect(sent).toEqual([]);
  const { opens } = network!;
  network = undefined;
  opens();
  await turn();
  const [values] = sent as [number[]];
  expect([sent.length, values.at(-1), values.length <= 128]).toEqual([1, 499, true]);
  close();
  sender.add("last");
  await turn();
  sender.flush(); // The result follows.
  expect(sent[1]).toEqual(["last"]);
});
