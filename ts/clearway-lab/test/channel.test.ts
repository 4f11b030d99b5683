// SPDX-License-Identifier: MIT OR Apache-2.0

import { float64, standardMessageCodec } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { type Caller, type ChannelParams, channelParamsOf, PendingCalls } from "../src/channel/caller.js";
import { drive, measuredOf } from "../src/channel/drive.js";
import { bytesOf } from "../src/channel/native.js";
import { payloadOf, plainValue, same } from "../src/channel/payload.js";

const paramsWith = (more: Partial<ChannelParams> = {}): ChannelParams => ({
  channel: "message",
  codec: "standard",
  payload: "2 KB",
  messages: 20,
  ...more,
});

/** Returns a caller that answers in a later turn of the event loop, and counters for its calls in flight. */
function echo(change: (value: unknown) => unknown = (value) => value) {
  const seen = { calls: 0, now: 0, most: 0 };
  const caller: Caller = {
    async call(value) {
      seen.calls++;
      seen.most = Math.max(seen.most, ++seen.now);
      await new Promise((turn) => setImmediate(turn));
      seen.now--;
      return change(value);
    },
    copiedBytes: () => seen.calls * 10,
    close: () => {},
  };
  return { caller, seen };
}

describe("measuring a channel", () => {
  test("times the requested number of round trips, one at a time and with three in flight", async () => {
    const { caller, seen } = echo();
    const { samples, values, result } = measuredOf(await drive(caller, paramsWith()));
    expect(result).toEqual({ equal: true });
    expect([samples["roundTrip"]?.ns.length, samples["roundTripOfThree"]?.ns.length]).toEqual([20, 20]);
    expect(seen.most).toBe(3);
    expect(values["copiedBytes"]).toEqual({ unit: "bytes", value: 10 });
    expect(values["perMessageOfThree"]?.value).toBeGreaterThan(0);
  });

  test("detects an echo that differs from the sent value, in the first call or the last", async () => {
    const wrong = echo((value) => ({ ...(value as object), id: 1 }));
    expect((await drive(wrong.caller, paramsWith())).equal).toBe(false);
    const late = echo((value) => (late.seen.calls > 100 ? null : value));
    expect((await drive(late.caller, paramsWith())).equal).toBe(false);
  });

  test("sends the returned value again when sending moves the value", async () => {
    const { caller } = echo();
    const taken = new Set<unknown>();
    const moving: Caller = {
      ...caller,
      moves: true,
      call: async (value) => {
        expect(taken.has(value)).toBe(false);
        taken.add(value);
        return caller.call((value as Uint8Array).slice());
      },
    };
    expect((await drive(moving, paramsWith({ codec: "binary", payload: "4 KB" }))).equal).toBe(true);
  });
});

test("pending calls settle by their ids in any order", async () => {
  const pending = new PendingCalls();
  const sent: number[] = [];
  const asked = [0, 1, 2].map(() => pending.call((id) => sent.push(id)));
  for (const id of [...sent].reverse()) pending.settle(id, `answer ${id}`);
  pending.settle(99, "no such call");
  expect(await Promise.all(asked)).toEqual(["answer 0", "answer 1", "answer 2"]);
});

test("channelParamsOf refuses an unknown channel or codec", () => {
  const params = { channel: "message", codec: "standard", payload: "null", messages: 1 };
  expect(channelParamsOf(params)).toEqual(params);
  expect(() => channelParamsOf({ ...params, channel: "event" })).toThrow("channel=event");
  expect(() => channelParamsOf({ ...params, codec: "xml" })).toThrow("codec=xml");
});

test("values cross to native code through msgpackr, and bytes cross unchanged", () => {
  const value = payloadOf("2 KB");
  for (const channel of ["message", "method"] as const) {
    const { write, read } = bytesOf(paramsWith({ channel }));
    expect(same(value, read(write(value).slice()))).toBe(true);
  }
  const bytes = new Uint8Array(10);
  expect(bytesOf(paramsWith({ codec: "binary" })).write(bytes)).toBe(bytes);
});

const sizeOf = (name: string) => standardMessageCodec.encode(payloadOf(name, float64)).length;

describe("payloads", () => {
  test("have the sizes in their names", () => {
    expect(sizeOf("1000 items")).toBe(14_214);
    expect(payloadOf("14 KB")).toHaveLength(14_214);
    expect(sizeOf("2 KB")).toBeGreaterThan(1800);
    expect(sizeOf("2 KB")).toBeLessThan(2200);
    expect([sizeOf("4 KB"), sizeOf("1 MB")]).toEqual([4096 + 4, 2 ** 20 + 6]);
  });

  test("with an unknown name are refused with the list of names", () => {
    expect(() => payloadOf("3 KB")).toThrow(/payload=3 KB \(null, int,.*1 MB\)/);
  });

  test("without typed arrays survive JSON unchanged", () => {
    const plain = plainValue(payloadOf("2 KB"));
    expect(same(plain, JSON.parse(JSON.stringify(plain)))).toBe(true);
  });
});

describe("comparing a returned value", () => {
  const mixed = () => payloadOf("2 KB") as Record<string, unknown>;

  test("finds equal parts equal, whatever their prototypes", () => {
    expect(same(mixed(), standardMessageCodec.decode(standardMessageCodec.encode(mixed())))).toBe(true);
    expect(same({ a: Uint8Array.of(1, 2) }, Object.assign(Object.create(null), { a: Buffer.from([1, 2]) }))).toBe(true);
  });

  test.each([
    ["a number differs", { ...mixed(), id: 1 }],
    ["a key is missing", Object.fromEntries(Object.entries(mixed()).slice(1))],
    ["a key has another name", { ...Object.fromEntries(Object.entries(mixed()).slice(1)), identity: 123_456 }],
    ["a byte differs", { ...mixed(), bytes: new Uint8Array(512) }],
    ["a list became an array", { ...mixed(), ints: Array.from({ length: 64 }, (_, at) => at * 1000) }],
    ["a list became wider", { ...mixed(), ints: Float64Array.from({ length: 64 }, (_, at) => at * 1000) }],
    ["null became undefined", { ...mixed(), none: undefined }],
  ])("finds a difference when %s", (_, other) => {
    expect(same(mixed(), other)).toBe(false);
    expect(same(other, mixed())).toBe(false);
  });
});
