// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, memoryPair } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { servePlugin } from "../src/channel.js";
import { loadPlugin, NativeError, type Plugin } from "../src/index.js";
import { codeOf, open, suite } from "./fixtures/probe.js";

/** A function that takes options. */
interface Entry {
  readonly name: string;
  /** Calls the function. It may throw, or return a promise. Cleans up what a successful call has made. */
  act(plugin: Plugin, options: never): unknown;
  readonly bad: readonly (readonly [shown: string, options: object])[];
  /** A misspelt option, and the option that the message must name. */
  readonly typo: readonly [misspelt: string, nearest: string];
  /** An option whose getter may throw. */
  readonly option: string;
}

const entries: readonly Entry[] = [
  {
    name: "loadPlugin",
    act: async (_plugin, options) => (await open(options)).close(),
    typo: ["onlog", "onLog"],
    option: "views",
    bad: [
      ['views must be one of shared, detachable, copied: views="all"', { views: "all" }],
      ["onLog must be of type function: onLog=3", { onLog: 3 }],
      ["onLog=null", { onLog: null }],
    ],
  },
  {
    name: "send",
    act: (plugin, options) => plugin.channel("pool/null").send(null, options),
    typo: ["attachment", "attachments"],
    option: "signal",
    bad: [
      ["signal must be an AbortSignal: signal=5", { signal: 5 }],
      ["attachments must be an array: attachments=5", { attachments: 5 }],
    ],
  },
  {
    name: "listen",
    act: (plugin, options) => plugin.channel("ticks").listen(options).return(),
    typo: ["argument", "arguments"],
    option: "items",
    bad: [
      ["items must be 1 to 65536: items=0", { items: 0 }],
      ['items="5"', { items: "5" }],
      ["bytes must be a whole number, at least 1: bytes=0.5", { bytes: 0.5 }],
      ['whenFull must be one of wait, fail, dropOldest, dropNewest: whenFull="drop"', { whenFull: "drop" }],
      ["signal must be an AbortSignal: signal=null", { signal: null }],
    ],
  },
  {
    name: "servePlugin",
    act: async (plugin, options) => {
      const [a, b] = memoryPair();
      const [here, there] = await Promise.all([connect(a), connect(b)]);
      try {
        servePlugin(plugin, there, options)[Symbol.dispose]();
      } finally {
        here.terminate();
        there.terminate();
      }
    },
    typo: ["message", "messages"],
    option: "asks",
    bad: [
      ['messages must be an array of strings: messages="echo"', { messages: "echo" }],
      ["asks must be an array of strings: asks=5", { asks: [5] }],
      ["events must be an object of codecs: events=5", { events: 5 }],
      ["items=0", { items: 0 }],
      ['whenFull="drop"', { whenFull: "drop" }],
    ],
  },
];

suite("the options", () => {
  describe.each(entries)("of $name", ({ act, bad, typo: [misspelt, nearest], option }) => {
    const refusal = async (options: unknown, shown: string): Promise<unknown> => {
      await using plugin = await open();
      try {
        await act(plugin, options as never);
      } catch (error) {
        expect(error).toBeInstanceOf(NativeError);
        expect(error).toMatchObject({ code: "invalid-argument", message: expect.stringContaining(shown) });
        return (error as Error).cause;
      }
      throw new Error("it was not refused");
    };

    test.each(bad)("are refused with the field and its value: %s", async (shown, options) => {
      await refusal(options, shown);
    });

    test.each([null, 5, "text", ["text"]])("must be an object: %s", async (options) => {
      await refusal(options, "options must be an object: options=");
    });

    test("are refused with the nearest name when one is unknown", async () => {
      await refusal({ [misspelt]: 5 }, `(the nearest is ${nearest}): ${misspelt}=5`);
      await refusal({ constructor: 1 }, "constructor must be a known option");
    });

    test("are accepted when Object.prototype has an enumerable property, and when an option is undefined", async () => {
      await using plugin = await open();
      const prototype = Object.prototype as unknown as Record<string, unknown>;
      prototype["polluted"] = 1;
      try {
        await act(plugin, { [misspelt]: undefined, [option]: undefined } as never);
      } finally {
        delete prototype["polluted"];
      }
    });

    test("are refused with a typed error when reading one throws", async () => {
      const thrown = new Error("mine");
      const refuse = (): never => {
        throw thrown;
      };
      const getter = Object.defineProperty({}, option, { get: refuse });
      expect(await refusal(getter, `${option} cannot be read: mine`)).toBe(thrown);
      expect(await refusal(new Proxy({}, { ownKeys: refuse }), "options cannot be read: mine")).toBe(thrown);
    });
  });
});

suite("an argument that is not an option", () => {
  test.each<[shown: string, act: (plugin: Plugin) => unknown]>([
    ["path must be a string or a URL: path=5", () => loadPlugin(5 as never)],
    ["name must be a string: name=5", (plugin) => plugin.channel(5 as never)],
    ["channel must be a string: channel=5", (plugin) => plugin.handle(5 as never, () => null)],
    ["handler must be a function: handler=3", (plugin) => plugin.handle("a", 3 as never)],
    ["bytes must be a Uint8Array: bytes=5", (plugin) => plugin.lend(5 as never)],
    ["size must be a whole number, at least 0: size=-1", (plugin) => plugin.allocate(-1)],
    [
      'message must be a Uint8Array, memory, or null: message="text"',
      (plugin) => plugin.channel("echo").send("text" as never),
    ],
    ["attachments must be an array: attachments=5", (plugin) => plugin.channel("echo").call(null, 5 as never)],
    [
      "message must be a Uint8Array, memory, or null: message=5",
      (plugin) => plugin.channel("ticks").listen({ arguments: 5 as never }),
    ],
  ])("is refused with its value: %s", async (shown, act) => {
    await using plugin = await open();
    await expect(async () => act(plugin)).rejects.toThrow(shown);
    expect(await codeOf(() => act(plugin))).toBe("invalid-argument");
  });
});
