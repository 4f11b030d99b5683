// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { Plugin } from "../src/index.js";
import { codeOf, open, suite, told } from "./fixtures/probe.js";

/** A signal with one replaced property, and a function that aborts the signal. */
interface ForeignSignal {
  readonly signal: AbortSignal;
  abort(): void;
}

type Act = () => unknown;

function over(what: keyof AbortSignal, part: (act: Act, signal: AbortSignal) => PropertyDescriptor) {
  return (act: Act): ForeignSignal => {
    const controller = new AbortController();
    const { signal } = controller;
    Object.defineProperty(signal, what, { configurable: true, ...part(act, signal) });
    return { signal, abort: () => controller.abort("enough") };
  };
}

type Adding = Parameters<EventTarget["addEventListener"]>;

/**
 * Functions that make foreign signals, one for each way in which the package uses a signal. The replaced property runs `act`, and the other
 * properties work.
 */
const foreignSignals: Readonly<Record<string, (act: Act) => ForeignSignal>> = {
  aborted: over("aborted", (act) => ({ get: act })),
  "aborted, read again": over("aborted", (act) => {
    let reads = 0;
    return { get: () => (reads++ === 0 ? false : act()) };
  }),
  reason: over("reason", (act) => ({ get: act })),
  "addEventListener()": over("addEventListener", (act) => ({ value: act })),
  "addEventListener() after it has added": over("addEventListener", (act, signal) => ({
    value: (...args: Adding) => {
      EventTarget.prototype.addEventListener.apply(signal, args);
      return act();
    },
  })),
  "addEventListener() after it has called the listener": over("addEventListener", (act) => ({
    value: (_type: string, listener: () => void) => {
      listener();
      return act();
    },
  })),
  "removeEventListener()": over("removeEventListener", (act) => ({ value: act })),
};

const refuse = (): never => {
  throw new Error("do not look");
};

/** Functions that throw, and functions that return a wrong value. */
const misdeeds: Readonly<Record<string, Act>> = {
  "throws an Error": () => {
    throw new Error("foreign");
  },
  "throws undefined": () => {
    throw undefined;
  },
  "throws an object that cannot be read": () => {
    throw new Proxy(() => {}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse, has: refuse });
  },
  "returns undefined": () => undefined,
  "returns a symbol": () => Symbol("odd"),
  "returns a promise that never settles": () => new Promise(() => {}),
};

/** Resolves with "settled" when the promise has resolved or rejected. */
const settled = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "settled",
    () => "settled",
  );

/**
 * Makes calls and streams with signals, and aborts the signals. Then ends the calls and streams that are still open. When the returned
 * promise settles, the promises of all calls and streams have settled.
 */
async function use(plugin: Plugin, make: () => ForeignSignal): Promise<void> {
  const all: Promise<unknown>[] = [];
  const calls = ["pool/echo", "never"].map((name) => {
    const made = make();
    all.push(settled(plugin.channel(name).send(told(1), { signal: made.signal })));
    return made;
  });
  const streams = [1, 0].map((count) => {
    const made = make();
    try {
      const events = plugin.channel("ticks").listen({ arguments: told(count, 16, 1000), signal: made.signal });
      all.push(settled(events.next()), settled(events.next()), settled(events.next()));
      return { made, end: () => events.return() };
    } catch {
      return { made, end: () => Promise.resolve() };
    }
  });
  for (const each of [...calls, ...streams.map(({ made }) => made)]) each.abort();
  for (const { end } of streams) await end();
  // Ends the calls whose signal has not called its listener.
  await plugin.close();
  await Promise.all(all);
}

suite("a caller's signal", () => {
  describe.each(Object.keys(foreignSignals))("whose %s", (part) => {
    test.each(Object.keys(misdeeds))("%s leaves every promise settled and no listener on the signal", async (what) => {
      const plugin = await open();
      const signals: AbortSignal[] = [];
      await use(plugin, () => {
        const made = foreignSignals[part]!(misdeeds[what]!);
        signals.push(made.signal);
        return made;
      });
      // A signal whose removeEventListener() was replaced keeps its listener.
      if (part === "removeEventListener()") return;
      expect(signals.flatMap((each) => getEventListeners(each, "abort"))).toEqual([]);
    });

    test("closes the plugin leaves every promise settled", async () => {
      const plugin = await open();
      await use(plugin, () => foreignSignals[part]!(() => void plugin.close()));
    });

    test("makes a call of its own harms neither call", async () => {
      await using plugin = await open();
      const own: Promise<unknown>[] = [];
      const { signal, abort } = foreignSignals[part]!(() => {
        own.push(plugin.channel("pool/echo").send(told(2)));
      });
      const sent = settled(plugin.channel("never").send(null, { signal }));
      abort();
      // A signal whose addEventListener() was replaced adds no listener, so its abort has no effect.
      if (part !== "addEventListener()") expect(await sent).toBe("settled");
      for (const answer of await Promise.all(own)) expect(answer).toMatchObject({ bytes: told(2) });
    });
  });

  const foreign = new Error("foreign");
  const throws = (part: string): ForeignSignal =>
    foreignSignals[part]!(() => {
      throw foreign;
    });

  test.each(["reason", "addEventListener()", "aborted", "aborted, read again"])(
    "whose %s throws rejects its call and its stream with what was thrown",
    async (part) => {
      await using plugin = await open();
      const [first, second] = [throws(part), throws(part)];
      const sent = plugin.channel("never").send(null, { signal: first.signal });
      first.abort();
      await expect(sent).rejects.toBe(foreign);
      const listened = async () => {
        const events = plugin.channel("ticks").listen({ arguments: told(0, 16, 1000), signal: second.signal });
        second.abort();
        for await (const _event of events);
      };
      await expect(listened()).rejects.toBe(foreign);
    },
  );

  test("whose removeEventListener() throws changes no answer", async () => {
    await using plugin = await open();
    const { signal } = throws("removeEventListener()");
    expect((await plugin.channel("pool/echo").send(told(3), { signal })).bytes).toEqual(told(3));
    const numbers = [];
    for await (const event of plugin.channel("ticks").listen({ arguments: told(3, 16, 0), signal }))
      numbers.push(event);
    expect(numbers).toHaveLength(3);
  });

  test("whose reason is undefined rejects its stream, which does not look complete", async () => {
    await using plugin = await open();
    const { signal, abort } = foreignSignals["reason"]!(() => undefined);
    const events = plugin.channel("ticks").listen({ arguments: told(0, 16, 1000), signal });
    const next = events.next();
    abort();
    await expect(next).rejects.toBe(undefined);
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  test("that aborts while the message is sent rejects its call", async () => {
    await using plugin = await open();
    const leaving = new AbortController();
    using memory = plugin.allocate(8);
    // `send` reads `size` after it has sent the message, and before it adds a listener to the signal. The signal aborts at this moment.
    Object.defineProperty(memory, "size", {
      get: () => {
        leaving.abort("left");
        return 8;
      },
    });
    await expect(plugin.channel("never").send(memory, { signal: leaving.signal })).rejects.toBe("left");
  });

  test("that is none is refused with the field's name", async () => {
    await using plugin = await open();
    for (const signal of [3, null, {}, "x"] as never[]) {
      await expect(plugin.channel("null").send(null, { signal })).rejects.toThrow(/signal must be an AbortSignal/);
      expect(await codeOf(() => plugin.channel("ticks").listen({ signal }))).toBe("invalid-argument");
    }
  });
});
