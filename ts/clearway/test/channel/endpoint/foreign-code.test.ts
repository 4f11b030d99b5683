// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { standardMessageCodec, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { EventStream } from "../../../src/channel/endpoint/event-stream.js";
import type { EventSink } from "../../../src/channel/endpoint/source.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import type { ChannelSink, ChannelTransport } from "../../../src/channel/transport/transport.js";
import { dispose } from "../../../src/globals.js";
import { useFakeTimers } from "../../fixtures/fake-timers.js";
import { returning, throwing } from "../../fixtures/misdeeds.js";
import { Watch } from "../../pool/chaos/watch.js";
import { connected, endpoints, endWithTest, rejection, until, withoutPause } from "./pairs.js";

// Tests every point at which an endpoint calls foreign code, and every way in which that code may fail. Afterwards, each waiting caller or
// listener has its result, nothing is left behind, and the endpoint still works.

afterEach(() => void vi.restoreAllMocks());

const misdeeds: Record<string, () => unknown> = {
  ...throwing,
  rejects: () => Promise.reject(new Error("foreign")),
  "returns a thenable that throws": () => ({
    // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
    then() {
      throw new Error("foreign");
    },
  }),
  "returns a value without an encoding": () => Symbol("foreign"),
  "returns a revoked Proxy": () => returning["returns a revoked Proxy"]!(),
  "returns a Proxy that throws": () => returning["returns a Proxy that throws"]!(),
};

const rejects = misdeeds["rejects"]!;

/** What a codec may return instead of bytes. */
const noBytes: Record<string, () => unknown> = {
  nothing: () => undefined,
  "an ArrayBuffer": () => new ArrayBuffer(8),
  "a promise": rejects,
  "bytes that were moved away": () => {
    const bytes = new Uint8Array(8);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    return bytes;
  },
};

/** Connects two ends, and collects the errors that the second end reports. */
async function start(wire: "clearway" | "plain") {
  const told: unknown[] = [];
  const ends = await endpoints(undefined, { wire, onError: (error) => told.push(error) });
  return { ...ends, told };
}

/** Checks that nothing is left over, and that the next call works. */
async function works({ a, b }: { a: Endpoint; b: Endpoint }): Promise<void> {
  const still = b.methods("still").handle({ works: () => "yes" });
  expect(await a.methods("still").call("works")).toBe("yes");
  still[dispose]();
  await until(() => b.stats().handling === 0 && b.stats().serving === 0 && a.stats().listening === 0);
  expect(a.stats().calls).toBe(0);
}

describe.each(["clearway", "plain"] as const)("foreign code on the %s wire:", (wire) => {
  describe.each(Object.keys(misdeeds))("a function that %s", (name) => {
    const misdeed = misdeeds[name] as () => never;

    test("as a method handler fails only its own call", async () => {
      const ends = await start(wire);
      ends.b.methods("m").handle({ wrong: misdeed });
      await rejection(ends.a.methods("m").call("wrong"));
      await works(ends);
    });

    test("as a message handler fails only its own call, and the error of a post is reported", async () => {
      const ends = await start(wire);
      ends.b.messages("m").handle(misdeed);
      const call = ends.a.messages("m").send(1);
      // On the plain wire, a failed message handler answers with an empty reply.
      await (wire === "plain" ? call : rejection(call));
      const before = ends.told.length;
      await ends.a.messages("m").post(1);
      await until(() => ends.told.length > before);
      await works(ends);
    });

    // What a source returns that pushes its events is ignored.
    test.skipIf(name === "returns a value without an encoding")(
      "as a source of events ends its stream with an error",
      async () => {
        const ends = await start(wire);
        ends.b.events("e").serve(misdeed);
        await rejection(ends.a.events("e").listen().next());
        await works(ends);
      },
    );

    test("as an iterable's iterator method ends its stream with an error", async () => {
      for (const key of [Symbol.asyncIterator, Symbol.iterator]) {
        const ends = await start(wire);
        ends.b.events("e").serve(() => ({ [key]: misdeed }) as never);
        await rejection(ends.a.events("e").listen().next());
        await works(ends);
        const later = await start(wire);
        later.b.events("e").serve(async () => ({ [key]: misdeed }) as never);
        await rejection(later.a.events("e").listen().next());
        await works(later);
      }
    });

    test("as an iterator's next ends its stream with an error", async () => {
      const ends = await start(wire);
      ends.b.events("e").serve(() => ({ [Symbol.asyncIterator]: () => ({ next: misdeed }) }) as never);
      await rejection(ends.a.events("e").listen().next());
      await works(ends);
    });

    test("as an iterator's return does not keep the stream from ending", async () => {
      const ends = await start(wire);
      const next = (): unknown => ({ done: false, value: 1 });
      ends.b.events("e").serve(() => ({ [Symbol.iterator]: () => ({ next, return: misdeed }) }) as never);
      for await (const _ of ends.a.events("e").listen()) break;
      await works(ends);
    });
  });

  describe.each(Object.keys(throwing))("a function that %s", (name) => {
    const misdeed = throwing[name] as () => never;

    test("as onError has its error printed, and the endpoint keeps working", async () => {
      const printed = vi.spyOn(console, "error").mockImplementation(() => {});
      const ends = await endpoints(undefined, { wire, onError: misdeed });
      ends.b.messages("m").handle(() => Promise.reject(new Error("nobody waits")));
      await ends.a.messages("m").post(1);
      await until(() => printed.mock.calls.length > 0);
      await works(ends);
    });

    test("as onDrop has its error reported, and the stream keeps going", async () => {
      const ends = await start(wire);
      let sent = 0;
      ends.b.events("fast").serve((_, sink: EventSink) => {
        for (; sent < 100; sent++) void sink.send(sent);
        sink.end();
      });
      const window = { items: 2 };
      const options = { window, capacity: 2, whenFull: "dropOldest", onDrop: misdeed } as const;
      const stream = ends.a.events("fast").listen<number>(null, options);
      await until(() => sent === 100);
      await until(() => ends.b.stats().serving === (wire === "plain" ? 0 : 1));
      const seen: number[] = [];
      for await (const each of stream) seen.push(each);
      expect([seen.at(-1), stream.dropped > 0, ends.told.length > 0]).toEqual([99, true, true]);
      await works(ends);
    });

    test("as a codec fails only its own call", async () => {
      const half = { name: "foreign", encode: misdeed, encodeInto: misdeed, decode: misdeed };
      const working = standardMessageCodec;
      const ends = await start(wire);
      ends.b.messages("encode", { ...working, encode: misdeed } as never).handle(() => 1);
      ends.b.messages("decode", { ...working, decode: misdeed } as never).handle(() => 1);
      ends.b.methods("reply", { ...standardMethodCodec, reply: half } as never).handle({ one: () => 1 });
      ends.b.methods("call", { ...standardMethodCodec, call: half } as never).handle({ one: () => 1 });
      for (const channel of ["encode", "decode"]) {
        const call = ends.a.messages(channel).send(1);
        await (wire === "plain" ? call : rejection(call));
      }
      for (const channel of ["reply", "call"]) await rejection(ends.a.methods(channel).call("one"));
      await works(ends);
    });

    test("as a codec of events ends its stream with an error", async () => {
      const half = { name: "foreign", encode: misdeed, encodeInto: misdeed, decode: misdeed };
      const ends = await start(wire);
      if (wire === "clearway")
        ends.b.events("reply", { ...standardMethodCodec, reply: half } as never).serve(function* () {
          yield 1;
        });
      ends.b.events("call", { ...standardMethodCodec, call: half } as never).serve(() => {});
      for (const channel of wire === "clearway" ? ["reply", "call"] : ["call"])
        await rejection(ends.a.events(channel).listen().next());
      await works(ends);
    });
  });

  test.each(Object.entries(noBytes))("a codec that encodes to %s fails only its own calls", async (_, encode) => {
    const ends = await start(wire);
    const { call, reply } = standardMethodCodec;
    const messages = { ...standardMessageCodec, encode } as never;
    const replies = { ...standardMethodCodec, reply: { ...reply, encode } } as never;
    const calls = { ...standardMethodCodec, call: { ...call, encode } } as never;
    ends.b.messages("m", messages).handle(() => 1);
    ends.b.methods("replies", replies).handle({ one: () => 1, wrong: throwing["throws an Error"] as never });
    const answered = ends.a.messages("m").send(1);
    await (wire === "plain" ? answered : rejection(answered));
    for (const method of ["one", "wrong"]) await rejection(ends.a.methods("replies").call(method));
    const told = { message: expect.stringMatching(/^codec\.encode\(\)|moved away/) };
    expect(await rejection(ends.a.messages("m", messages).send(1))).toMatchObject(told);
    expect(await rejection(ends.a.methods("m", calls).call("one"))).toMatchObject(told);
    expect(() => ends.a.events("m", calls).listen()).toThrow(/^codec\.encode\(\)|moved away/);
    if (wire === "plain") expect(() => ends.b.events("e", replies).serve(() => [1])).toThrow();
    else {
      ends.b.events("e", replies).serve(() => [1]);
      await rejection(ends.a.events("e").listen().next());
    }
    await works(ends);
  });

  test("a codec that decodes to a promise fails only its own calls", async () => {
    const ends = await start(wire);
    const messages = { ...standardMessageCodec, decode: rejects } as never;
    ends.b.messages("here", messages).handle(() => 1);
    ends.b.messages("there").handle(() => 1);
    const refused = ends.a.messages("here").send(1);
    await (wire === "plain" ? refused : rejection(refused));
    const told = { message: expect.stringMatching(/^codec\.decode\(\)/) };
    expect(await rejection(ends.a.messages("there", messages).send(1))).toMatchObject(told);
    const codec = { ...standardMethodCodec, reply: { ...standardMethodCodec.reply, decode: rejects } } as never;
    ends.b.events("e").serve(() => [1]);
    expect(await rejection(ends.a.events("e", codec).listen().next())).toMatchObject(told);
    await works(ends);
  });

  test("a stream removes its listener from the signal when it ends, whichever side ends it", async () => {
    const ends = await start(wire);
    ends.b.events("short").serve(function* () {
      yield 1;
    });
    ends.b.events("broken").serve(() => {
      throw new Error("x");
    });
    ends.b.events("long").serve(() => {});
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    let long: EventStream<unknown> | undefined;
    for (let n = 0; n < 20; n++) {
      for await (const _ of ends.a.events("short").listen(null, { signal }));
      for await (const _ of ends.a.events("short").listen(null, { signal })) break;
      await rejection(ends.a.events("broken").listen(null, { signal }).next());
      void long?.return?.();
      long = ends.a.events("long").listen(null, { signal });
      void long.next().catch(() => {});
    }
    const left = (): number => {
      const listeners = new Set(added.mock.calls.map(([, listener]) => listener));
      for (const [, listener] of removed.mock.calls) listeners.delete(listener as never);
      return listeners.size;
    };
    // In Node, concurrent streams share one listener.
    expect(added).toHaveBeenCalled();
    // The listener of the last long stream.
    await until(() => left() === 1);
    ends.a.terminate();
    expect(left()).toBe(0);
  });
});

// A transport may be an app's own, or stand on a socket that is. Whatever it throws, every promise of the endpoint settles.

const watchMs = Number(globalThis.process?.env?.["CLEARWAY_FUZZ_WATCH_MS"] ?? 60_000);
afterEach(() => void vi.restoreAllMocks());

type Method = "open" | "send" | "close" | "pause" | "resume";

/** A transport with methods that fail as soon as the test says so. */
function foreign(under: ChannelTransport, act: () => unknown) {
  const wrong = new Set<Method>();
  const transport = new Proxy(under, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => (wrong.has(name as Method) ? act() : value.apply(target, args));
    },
  });
  return { transport, wrong };
}

// What is caught is caught whatever it is; these differ in how they may be reported.
const some = ["throws an Error", "throws a text", "throws nothing", "throws a revoked Proxy"].map(
  (name) => [name, throwing[name]!] as const,
);
const ways = { throws: throwing["throws an Error"]!, rejects };

describe.each(["clearway", "plain"] as const)("a transport of an app, on the %s wire", (wire) => {
  test.each([...some, ["reject", rejects] as const])(
    "whose methods %s leaves no call and no stream waiting",
    async (_what, act) => {
      for (const method of ["send", "close", "pause", "resume"] as const) {
        for (const end of ["close", "terminate", "broken"] as const) {
          const [one, two] = memoryPair();
          const { transport, wrong } = foreign(one, act);
          const { a, b } = await connected([transport, two], { wire, onError: () => {}, replyBytesMax: 64 });
          endWithTest(b);
          b.methods("m").handle({ never: () => new Promise(() => {}), big: () => "x".repeat(1000) });
          b.events("e").serve(() => {});
          a.methods("m").handle({ big: () => "x".repeat(1000) });
          const watch = new Watch();
          const follow = (promise: Promise<unknown>): void => void watch.follow(`${method} ${end}`, promise);
          follow(a.methods("m").call("never"));
          const stream = a.events("e").listen();
          follow(stream.next());
          wrong.add(method);
          follow(a.methods("m").call("big"));
          follow(a.messages("m").post(1));
          follow(b.methods("m").call("big", null, { deadlineMs: 20 }));
          for (let n = 0; n < 3; n++) await new Promise((resolve) => setTimeout(resolve));
          if (end === "close") follow(a.close({ timeoutMs: 5 }));
          else if (end === "terminate") a.terminate();
          else {
            // No frame of any kind.
            two.send(new Uint8Array(3));
            await until(() => a.stats().calls === 0);
          }
          follow(a.closed);
          await watch.all(watchMs);
          await until(() => a.stats().handling === 0);
          expect(a.stats()).toMatchObject({ calls: 0, listening: 0, serving: 0 });
          b.terminate();
        }
      }
    },
  );

  test.each([
    ["open", "throws"],
    ["open", "rejects"],
    ["send", "throws"],
    ["send", "rejects"],
    ["close", "throws"],
    ["close", "rejects"],
  ] as const)("whose %s() %s before the hello rejects connect()", async (method, way) => {
    useFakeTimers();
    const { transport, wrong } = foreign(memoryPair()[0], ways[way]);
    wrong.add(method);
    const connecting = rejection(connect(transport, { wire, helloMs: 100 }));
    await vi.advanceTimersByTimeAsync(100);
    if (method === "close") expect(await connecting).toMatchObject({ code: "deadline" });
    else if (method === "send" && way === "rejects")
      expect(await connecting).toMatchObject({ code: "invalid-argument" });
    else expect(await connecting).toMatchObject({ message: "foreign" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("whose open() rejects after the hello ends its endpoint", async () => {
    const [one, two] = memoryPair();
    let fail = (_: Error): void => {};
    const open = (sink: ChannelSink): unknown => {
      one.open(sink);
      return new Promise((_, reject) => (fail = reject));
    };
    const { a } = await endpoints([{ ...withoutPause(one), open } as ChannelTransport, two], { wire });
    fail(new Error("foreign"));
    expect(await a.closed).toMatchObject({ code: "failed", cause: { message: "foreign" } });
  });

  test("whose send() calls drained() before it returns false goes on", async () => {
    const [one, two] = memoryPair();
    let sink: ChannelSink | undefined;
    const open = (given: ChannelSink): void => {
      sink = given;
      one.open(given);
    };
    const send = (frame: Uint8Array): boolean => {
      one.send(frame);
      sink?.drained();
      return false;
    };
    const { a, b } = await endpoints([{ ...withoutPause(one), open, send }, two], { wire });
    b.methods("m").handle({ one: () => 1 });
    for (let n = 0; n < 3; n++) expect(await a.methods("m").call("one")).toBe(1);
  });

  test("whose send() returns nothing is refused", async () => {
    const transport = { ...withoutPause(memoryPair()[0]), send: () => undefined };
    const error = await rejection(connect(transport as never, { wire }));
    expect(error).toMatchObject({ message: expect.stringMatching(/^transport\.send\(\) must be/) });
  });
});
