// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, onTestFinished, test, vi } from "vitest";
import { latest, type NativeMessage, type Payload } from "../src/index.js";
import { codeOf, numberIn, open, suite, told } from "./fixtures/probe.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

suite("events", () => {
  test("arrive in order and completely, and the stream ends", async () => {
    await using plugin = await open();
    const numbers: number[] = [];
    for await (const { bytes } of plugin.channel("ticks").listen({ arguments: told(5000, 16, 0), items: 32 })) {
      numbers.push(numberIn(bytes));
    }
    expect(numbers).toEqual(Array.from({ length: 5000 }, (_, at) => at));
  });

  test("inside a value are refused by structured clone", async () => {
    await using plugin = await open();
    await using events = plugin.channel("ticks").listen({ arguments: told(1, 16, 0) });
    expect(() => structuredClone({ events })).toThrow("could not be cloned");
  });

  test("arrive completely, a million with credit, while timers go on", async () => {
    await using plugin = await open();
    let [next, lost, ticks] = [0, 0, 0];
    const timer = setInterval(() => ticks++, 1);
    const events = plugin.channel("ticks").listen({ arguments: told(1_000_000, 16, 0), items: 4096 });
    for await (const { bytes } of events) {
      lost += numberIn(bytes) - next;
      next = numberIn(bytes) + 1;
    }
    clearInterval(timer);
    expect([next, lost, events.dropped]).toEqual([1_000_000, 0, 0]);
    expect(ticks).toBeGreaterThan(0);
  });

  test("arrive completely when a test has replaced `setImmediate`", async () => {
    vi.useFakeTimers({ toFake: ["setImmediate", "clearImmediate"] });
    onTestFinished(() => void vi.useRealTimers());
    await using plugin = await open();
    let count = 0;
    // Many more than the pump reads in one turn of the event loop.
    const events = plugin.channel("ticks").listen({ arguments: told(1_000_000, 16, 0), items: 4096 });
    for await (const _ of events) count++;
    expect(count).toBe(1_000_000);
  });

  test.each(["shared", "detachable"] as const)(
    "in one memory are all views of it, without a copy between the source and the listener: %s",
    async (views) => {
      await using plugin = await open({ views });
      const frames: NativeMessage[] = [];
      for await (const frame of plugin.channel("ticks").listen({ arguments: told(5, 8 << 20, 0, 1), items: 8 })) {
        frames.push(frame);
        expect(frame.bytes).toHaveLength(8 << 20);
      }
      // All five events are views of the same memory. They are read after the stream has ended, so all of them have the last number.
      expect(frames.map(({ bytes }) => numberIn(bytes))).toEqual([4, 4, 4, 4, 4]);
      expect(plugin.stats().ledger.fromNative).toMatchObject({ copiedBytes: 0 });
      for (const frame of frames) frame.release();
      expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 0 } });
    },
  );

  test("of 8 MB arrive as memory, counted as moved, and released slabs are used again", async () => {
    await using plugin = await open();
    const before = plugin.stats().native["slabsLive"] ?? 0;
    let count = 0;
    for await (const frame of plugin.channel("ticks").listen({ arguments: told(50, 8 << 20, 0), items: 2 })) {
      expect(frame.bytes?.[8_000_000]).toBe(count & 255);
      frame.release();
      count++;
    }
    expect(count).toBe(50);
    expect(plugin.stats().ledger.fromNative).toMatchObject({ copiedBytes: 0, movedBytes: 50 * (8 << 20) });
    expect(plugin.stats().native["slabsLive"]).toBeLessThanOrEqual(before);
  });

  test("beyond the window are not queued when the listener reads nothing", async () => {
    await using plugin = await open();
    const events = plugin.channel("ticks").listen({ arguments: told(0, 16, 0), items: 8 });
    await events.next();
    await plugin.channel("pool/block").send(told(20));
    expect(plugin.stats().native["events"]).toBeLessThanOrEqual(8 + 8);
    await events.return();
  });

  test("leaving the loop cancels the source and releases waiting events", async () => {
    await using plugin = await open();
    for await (const frame of plugin.channel("ticks").listen({ arguments: told(0, 8192, 0) })) {
      frame.release();
      break;
    }
    while (numberIn(plugin.channel("cancels").call().bytes) !== 1)
      await new Promise((resolve) => setImmediate(resolve));
    expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 0 } });
  });

  test("latest keeps only the newest event, in ascending order, and counts the dropped ones", async () => {
    await using plugin = await open();
    const events = plugin.channel("ticks").listen({ arguments: told(20_000, 16, 0), ...latest() });
    let [last, count] = [-1, 0];
    for await (const { bytes } of events) {
      expect(numberIn(bytes)).toBeGreaterThan(last);
      last = numberIn(bytes);
      count++;
    }
    expect(last).toBe(19_999);
    expect(count + events.dropped).toBe(20_000);
  });

  test("dropNewest keeps the oldest events; fail ends the stream with overflow", async () => {
    await using plugin = await open();
    const ticks = plugin.channel("ticks");
    const kept = ticks.listen({ arguments: told(20_000, 16, 0), items: 4, whenFull: "dropNewest" });
    let count = 0;
    for await (const _ of kept) count++;
    expect(count + kept.dropped).toBe(20_000);
    const failing = ticks.listen({ arguments: told(0, 16, 0), items: 4, whenFull: "fail" });
    expect(
      await codeOf(async () => {
        for await (const _ of failing) await plugin.channel("pool/block").send(told(1));
      }),
    ).toBe("overflow");
    expect(await failing.next()).toEqual({ value: undefined, done: true });
  });

  test("a signal ends the stream with its reason", async () => {
    await using plugin = await open();
    const leaving = new AbortController();
    const reason = new Error("left");
    const events = plugin.channel("ticks").listen({ arguments: told(0, 16, 0), signal: leaving.signal });
    await events.next();
    leaving.abort(reason);
    await expect(events.next()).rejects.toBe(reason);
    expect(await events.next()).toMatchObject({ done: true });
  });

  test("a source that refuses and a missing source fail with their status", async () => {
    await using plugin = await open();
    expect(await codeOf(() => plugin.channel("ticks").listen().next())).toBe("invalid-argument");
    expect(await codeOf(() => plugin.channel("echo").listen())).toBe("no-handler");
  });

  test("listen refuses windows out of range", async () => {
    await using plugin = await open();
    const ticks = plugin.channel("ticks");
    expect(await codeOf(() => ticks.listen({ items: 0 }))).toBe("invalid-argument");
    expect(await codeOf(() => ticks.listen({ bytes: 0.5 }))).toBe("invalid-argument");
    expect(await codeOf(() => ticks.listen({ whenFull: "other" as "wait" }))).toBe("invalid-argument");
  });
});

suite("a plugin's messages", () => {
  test("are answered by the handler of their channel, now or later", async () => {
    await using plugin = await open();
    using _ = plugin.handle("probe/asked", async ({ bytes }) => {
      await Promise.resolve();
      return new Uint8Array([...(bytes ?? []), 4]);
    });
    expect((await plugin.channel("ask").send(new Uint8Array([1, 2]))).bytes).toEqual(new Uint8Array([1, 2, 4]));
  });

  test("fail when their handler throws, and are refused without a handler", async () => {
    await using plugin = await open();
    expect(await codeOf(() => plugin.channel("ask").send())).toBe("no-handler");
    using _ = plugin.handle("probe/asked", () => {
      throw new Error("not today");
    });
    expect(await codeOf(() => plugin.channel("ask").send())).toBe("failed");
    expect(await codeOf(() => plugin.handle("probe/asked", () => null))).toBe("invalid-argument");
  });

  test("keep a handler that was set after another one was removed, when that one is disposed again", async () => {
    await using plugin = await open();
    const first = plugin.handle("probe/asked", () => new Uint8Array([1]));
    first[Symbol.dispose]();
    using _ = plugin.handle("probe/asked", () => new Uint8Array([2]));
    first[Symbol.dispose]();
    expect((await plugin.channel("ask").send()).bytes).toEqual(new Uint8Array([2]));
  });

  test("fail when their handler throws a value without text or returns an invalid answer", async () => {
    await using plugin = await open();
    const released = plugin.allocate(8);
    released.release();
    const unreadable = Object.defineProperty(new Error(), "message", {
      get() {
        throw new Error("no message");
      },
    });
    const hostile: (() => Payload)[] = [
      () => {
        throw Object.create(null);
      },
      () => {
        throw unreadable;
      },
      () => released,
      () => ({ handle: 77 }) as unknown as Payload,
      () => "text" as unknown as Payload,
    ];
    for (const handler of hostile) {
      using _ = plugin.handle("probe/asked", handler);
      expect(await codeOf(() => plugin.channel("ask").send())).toBe("failed");
    }
  });

  test("leave no loan behind when they are answered after the close", async () => {
    const plugin = await open();
    let answer = (_: Payload): void => {};
    using _ = plugin.handle(
      "probe/asked",
      () =>
        new Promise<Payload>((resolve) => {
          answer = resolve;
          asked();
        }),
    );
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const sent = codeOf(() => plugin.channel("ask").send());
    await isAsked;
    await plugin.close();
    expect(await sent).toBe("closed");
    answer(new Uint8Array(8192));
    await turn();
    expect(plugin.stats()).toMatchObject({ lent: 0 });
  });

  test("arrive without leaks when they are large: their memory is released after the handler", async () => {
    await using plugin = await open();
    const bytes = new Uint8Array(100_000).fill(5);
    using _ = plugin.handle("probe/asked", (message) => message.bytes);
    expect((await plugin.channel("ask").send(bytes)).bytes).toEqual(bytes);
    expect(plugin.stats().native["held"]).toBe(0);
  });

  test("log lines reach onLog", async () => {
    const logged: [number, string][] = [];
    await using plugin = await open({ onLog: (level, text) => void logged.push([level, text]) });
    plugin.channel("say").call(new TextEncoder().encode("hello, Zoë"));
    await plugin.channel("pool/null").send();
    await plugin.channel("null").send();
    expect(logged).toEqual([[1, "hello, Zoë"]]);
  });
});
