// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { latest } from "../../../src/channel/endpoint/options.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import type { EventSink } from "../../../src/channel/endpoint/source.js";
import { endpoints, rejection, transports, until } from "./pairs.js";

async function read<T>(events: AsyncIterable<T>, count = Number.POSITIVE_INFINITY): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) if (all.push(event) === count) break;
  return all;
}

for (const [carrier, pair] of Object.entries(transports)) {
  for (const wire of ["clearway", "plain"] as const) {
    const start = () => endpoints(pair(), { wire, onError: () => {} });

    describe(`events on the ${wire} wire over ${carrier}`, () => {
      test("all arrive, in order, before the end", async () => {
        const { a, b } = await start();
        b.events("count").serve(async function* (to: number) {
          for (let n = 1; n <= to; n++) yield n;
        });
        expect(await read(a.events("count").listen<number>(200))).toEqual(
          Array.from({ length: 200 }, (_, at) => at + 1),
        );
        await until(() => b.stats().serving === 0);
        expect([a.stats().listening, b.stats().serving]).toEqual([0, 0]);
      });

      test("run the source's finally block and abort its signal when the reader leaves", async () => {
        const { a, b } = await start();
        let ended = "";
        b.events("for ever").serve(async function* (_, { signal }) {
          try {
            for (let n = 0; ; n++) {
              yield n;
              await new Promise((resolve) => setTimeout(resolve));
            }
          } finally {
            ended = `finally, ${signal.aborted}`;
          }
        });
        expect(await read(a.events("for ever").listen(), 3)).toEqual([0, 1, 2]);
        await until(() => ended !== "");
        expect(ended).toBe("finally, true");
      });

      test("pushed by a source arrive before its end", async () => {
        const { a, b } = await start();
        b.events("pushed").serve((_, sink: EventSink) => {
          void sink.send("one");
          void sink.send("two");
          sink.end();
          void sink.send("too late");
        });
        expect(await read(a.events("pushed").listen())).toEqual(["one", "two"]);
      });

      test.each([7, "text", true, { a: "timer" }])(
        "pushed by a source that happens to return %o arrive",
        async (given) => {
          const { a, b } = await start();
          const sinks: EventSink[] = [];
          b.events("pushed").serve((_, sink) => {
            sinks.push(sink);
            return given as never;
          });
          b.events("async").serve(async (_, sink) => {
            await sink.send("one");
            return given as never;
          });
          const seen = read(a.events("pushed").listen());
          await until(() => sinks.length === 1);
          void sinks[0]!.send("one");
          sinks[0]!.end();
          expect([await seen, await read(a.events("async").listen())]).toEqual([["one"], ["one"]]);
        },
      );

      test("of an async source end when the source ends", async () => {
        const { a, b } = await start();
        b.events("pushed").serve(async (_, sink: EventSink) => {
          for (let n = 0; n < 40; n++) await sink.send(n);
        });
        expect(await read(a.events("pushed").listen())).toHaveLength(40);
      });

      test("arrive before their source's error, which is reported once", async () => {
        const { a, b } = await start();
        b.events("broken").serve(async function* () {
          yield 1;
          throw new RemoteError("LOST", "no signal", { details: [7] });
        });
        const stream = a.events("broken").listen();
        expect(await stream.next()).toEqual({ done: false, value: 1 });
        const error = await rejection(stream.next());
        expect(error).toBeInstanceOf(RemoteError);
        expect(error).toMatchObject({ code: "LOST", message: "no signal", details: [7] });
        expect(await stream.next()).toEqual({ done: true, value: undefined });
      });

      test.skipIf(wire === "plain")(
        "reach every listener of a channel, and one that does not read holds up no other",
        async () => {
          const { a, b } = await start();
          const ended: unknown[] = [];
          b.events("shared").serve(async function* (args) {
            try {
              for (let n = 0; n < 100; n++) yield n;
            } finally {
              ended.push(args);
            }
          });
          const idle = a.events("shared").listen("idle", { window: { items: 2 } });
          expect(await idle.next()).toEqual({ done: false, value: 0 });
          const all = Array.from({ length: 100 }, (_, n) => n);
          for (const listener of ["second", "third"])
            expect(await read(a.events("shared").listen(listener, { window: { items: 3 } }))).toEqual(all);
          await until(() => ended.length === 2);
          expect([a.stats().listening, b.stats().serving]).toEqual([1, 1]);
          // The listener that has not read yet misses nothing.
          expect(await read(idle)).toEqual(all.slice(1));
          await until(() => ended.length === 3);
          expect(ended).toEqual(["second", "third", "idle"]);
        },
      );

      test.skipIf(wire === "plain")("go on for the other listeners of a channel when one ends or leaves", async () => {
        const { a, b } = await start();
        b.events("shared").serve(async function* (args) {
          for (let n = 0; args !== "short" || n < 2; n++) yield n;
        });
        const stop = new AbortController();
        const stays = a.events("shared").listen("long");
        const aborted = a.events("shared").listen("long", { signal: stop.signal });
        await aborted.next();
        stop.abort(new Error("enough"));
        expect(await rejection(read(aborted))).toMatchObject({ message: "enough" });
        expect(await read(a.events("shared").listen("short"))).toEqual([0, 1]);
        expect(await read(a.events("shared").listen("long"), 3)).toEqual([0, 1, 2]);
        expect(await read(stays, 100)).toHaveLength(100);
        await until(() => b.stats().serving === 0);
      });

      test.skipIf(wire === "clearway")("of a first listen end when the same channel is listened to again", async () => {
        const { a, b } = await start();
        let begun = 0;
        const ended: unknown[] = [];
        b.events("one").serve(async function* (args) {
          begun++;
          try {
            for (;;) {
              yield args;
              await new Promise((resolve) => setTimeout(resolve));
            }
          } finally {
            ended.push(args);
          }
        });
        const first = a.events("one").listen("first");
        await first.next();
        const second = a.events("one").listen("second");
        const rest = rejection(read(first));
        expect(await rest).toMatchObject({ code: "cancelled" });
        // Plain events carry no stream number, so an event of the first stream may still arrive.
        let value: unknown;
        for await (value of second) if (value === "second") break;
        await until(() => ended.length === 2);
        // Each source ends when its own timer has fired, in any order.
        expect([begun, value, ended.sort()]).toEqual([2, "second", ["first", "second"]]);
      });

      test("end with the signal's reason when it aborts", async () => {
        const { a, b } = await start();
        b.events("never").serve(() => {});
        const controller = new AbortController();
        const stream = a.events("never").listen(null, { signal: controller.signal });
        const next = rejection(stream.next());
        await rejection(a.methods("none").call("x", null, { deadlineMs: 20 }));
        const reason = new Error("enough");
        controller.abort(reason);
        expect(await next).toBe(reason);
        expect(await rejection(read(a.events("never").listen(null, { signal: controller.signal })))).toBe(reason);
        await until(() => b.stats().serving === 0);
      });

      test("end at both endpoints when the transport ends", async () => {
        const { a, b } = await start();
        let signal: AbortSignal | undefined;
        b.events("never").serve((_, sink) => {
          signal = sink.signal;
        });
        const stream = a.events("never").listen();
        const next = rejection(stream.next());
        await until(() => signal !== undefined);
        b.terminate();
        expect(await next).toMatchObject({ code: "transport-closed" });
        expect(signal!.aborted).toBe(true);
        expect(await rejection(read(a.events("never").listen()))).toMatchObject({ code: "transport-closed" });
      });

      test("end with the codec's error when an event cannot be encoded", async () => {
        const { a, b } = await start();
        b.events("odd").serve(function* () {
          yield 1;
          yield () => 1;
        });
        const stream = a.events("odd").listen();
        expect((await stream.next()).value).toBe(1);
        const refused = a.codec === "clone" ? "not-cloneable" : "not-encodable";
        expect(await rejection(stream.next())).toMatchObject({ code: refused });
      });

      test("are not implemented on a channel with methods only", async () => {
        const { a, b } = await start();
        b.methods("m").handle({ one: () => 1 });
        expect(await rejection(read(a.events("m").listen()))).toMatchObject({ code: "not-implemented" });
        expect(await a.methods("m").call("one")).toBe(1);
      });
    });
  }

  describe(`credit over ${carrier}`, () => {
    test("limits how far a generator runs ahead", async () => {
      const { a, b } = await endpoints(pair());
      let made = 0;
      b.events("many").serve(function* () {
        for (; made < 1000; made++) yield made;
      });
      const stream = a.events("many").listen<number>(null, { window: { items: 4 } });
      for (let n = 0; n < 100; n++) {
        expect((await stream.next()).value).toBe(n);
        await new Promise((resolve) => setTimeout(resolve));
        // `made` increases when the next value is drawn.
        expect(made).toBeLessThan(n + 1 + 4);
      }
      await stream.return();
    });

    test("also limits bytes", async () => {
      const { a, b } = await endpoints(pair());
      let made = 0;
      b.events("many").serve(function* () {
        for (; ; made++) yield new Uint8Array(50_000);
      });
      const stream = a.events("many").listen(null, { window: { bytes: 100_000 } });
      for (let n = 1; n < 20; n++) {
        expect((await stream.next()).value).toHaveLength(50_000);
        await new Promise((resolve) => setTimeout(resolve));
        expect(made).toBeLessThan(n + 3);
      }
      await stream.return();
    });

    test.each([
      ["dropOldest", [0, 1, 98, 99]],
      ["dropNewest", [0, 1, 2, 3]],
    ] as const)(
      "with %s drops events for which the reader is too slow, and counts them",
      async (whenFull, expected) => {
        const { a, b } = await endpoints(pair());
        let sent = 0;
        b.events("fast").serve((_, sink: EventSink) => {
          for (; sent < 100; sent++) void sink.send(sent);
          sink.end();
        });
        const drops: number[] = [];
        const stream = a.events("fast").listen(null, {
          window: { items: 2 },
          capacity: 2,
          whenFull,
          onDrop: (count) => drops.push(count),
        });
        await until(() => sent === 100);
        expect(await read(stream)).toEqual(expected);
        expect(drops).toEqual([96]);
        expect(stream.dropped).toBe(96);
      },
    );

    test("with fail makes a send beyond it reject with queue-full", async () => {
      const { a, b } = await endpoints(pair());
      const results: Promise<unknown>[] = [];
      b.events("fast").serve(
        (_, sink: EventSink) => {
          for (let n = 0; n < 10; n++) results.push(sink.send(n).catch((error) => error.code));
        },
        { whenFull: "fail", capacity: 2 },
      );
      const stream = a.events("fast").listen(null, { window: { items: 1 } });
      await stream.next();
      expect(await Promise.all(results)).toEqual([true, true, true, ...Array(7).fill("queue-full")]);
      await stream.return();
    });

    test.each(["wait", "fail"] as const)(
      "that drops events goes on dropping them for a listener that asks for %s",
      async (whenFull) => {
        const { a, b } = await endpoints(pair());
        const results: Promise<boolean>[] = [];
        b.events("fast").serve(
          (_, sink: EventSink) => {
            for (let n = 0; n < 10; n++) results.push(sink.send(n));
          },
          { whenFull: "dropNewest", capacity: 2 },
        );
        const stream = a.events("fast").listen(null, { window: { items: 1 }, whenFull });
        await stream.next();
        expect(await Promise.all(results)).toEqual([true, true, true, ...Array(7).fill(false)]);
        await stream.return();
      },
    );

    test("with latest() delivers the newest pushed frame, and the source never waits", async () => {
      const { a, b } = await endpoints(pair());
      let frame = 0;
      b.events("frames").serve(async (_, sink: EventSink) => {
        while (!sink.signal.aborted) {
          await sink.send(frame++);
          await new Promise((resolve) => setTimeout(resolve));
        }
      });
      const stream = a.events("frames").listen<number>(null, latest());
      const seen: number[] = [];
      for await (const each of stream) {
        seen.push(each);
        if (seen.length === 5) break;
        const from = frame;
        await until(() => frame > from + 5);
      }
      expect(seen).toEqual([...seen].sort((x, y) => x - y));
      expect(seen[4]! - seen[0]!).toBe(seen.length - 1 + stream.dropped);
      expect(stream.dropped).toBeGreaterThan(5);
    });

    test.each(["wait", "fail", "dropOldest", "dropNewest"] as const)(
      "loses no event of a generator, because the generator waits for it: %s",
      async (whenFull) => {
        const { a, b } = await endpoints(pair());
        b.events("slow").serve(async function* () {
          for (let n = 0; n < 30; n++) {
            await new Promise((resolve) => setTimeout(resolve));
            yield n;
          }
        });
        const stream = a.events("slow").listen<number>(null, { window: { items: 1 }, capacity: 1, whenFull });
        const seen: number[] = [];
        for await (const each of stream) {
          seen.push(each);
          for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setTimeout(resolve));
        }
        expect([seen, stream.dropped]).toEqual([Array.from({ length: 30 }, (_, at) => at), 0]);
      },
    );
  });

  describe(`events without credit over ${carrier}`, () => {
    const flood = async (whenFull: "dropOldest" | "dropNewest" | "wait") => {
      const { a, b } = await endpoints(pair(), { wire: "plain" });
      let sent = 0;
      b.events("fast").serve((_, sink: EventSink) => {
        for (; sent < 100; sent++) void sink.send(sent);
        sink.end();
      });
      const stream = a.events("fast").listen<number>(null, { capacity: 3, whenFull });
      await until(() => sent === 100 && b.stats().serving === 0);
      await rejection(a.methods("none").call("x", null, { deadlineMs: 20 }));
      return stream;
    };

    test("wait in a reader's bounded buffer, which counts the events that it drops", async () => {
      const oldest = await flood("dropOldest");
      expect([await read(oldest), oldest.dropped]).toEqual([[97, 98, 99], 97]);
      const newest = await flood("dropNewest");
      expect([await read(newest), newest.dropped]).toEqual([[0, 1, 2], 97]);
    });

    test("fail their stream when its buffer is full and no event may be dropped", async () => {
      expect(await rejection(read(await flood("wait")))).toMatchObject({ code: "queue-full" });
    });
  });
}
