// SPDX-License-Identifier: MIT OR Apache-2.0
// Every point at which the package calls code of the application, and the ways in which that code may fail. Afterwards every promise has
// settled, nothing was thrown elsewhere, nothing is lent, and the plugin works unless the code has closed it.
import { connect, type MessageCodec, memoryPair, standardMessageCodec } from "clearway/channel";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hanging, type Misdeed, returning, throwing } from "../../clearway/test/fixtures/misdeeds.js";
import { servePlugin } from "../src/channel.js";
import type { Plugin, PluginOptions } from "../src/index.js";
import { open, suite, told } from "./fixtures/probe.js";

/** What a point needs: an open plugin, and the code that misbehaves. */
interface Stage {
  readonly plugin: Plugin;
  readonly act: Misdeed;
}

/** A point at which the package calls foreign code. */
interface Point {
  readonly name: string;
  /** Whether a promise may wait at this point until the plugin is closed. */
  readonly hangs?: boolean;
  /** The options of the plugin that calls the foreign code itself. */
  options?(act: Misdeed): PluginOptions;
  /** Makes the package reach the point. Returns the promises that must settle. */
  reach(stage: Stage): readonly PromiseLike<unknown>[];
}

/** Returns a promise of what a function returns, also if it throws. */
const outcome = (act: () => unknown): Promise<unknown> => new Promise((resolve) => resolve(act()));

/** A point in the content of a message. */
const payload = (name: string, make: (act: Misdeed, plugin: Plugin) => object): Point => ({
  name,
  reach: ({ plugin, act }) => {
    const given = (): never => make(act, plugin) as never;
    const { signal } = new AbortController();
    return [
      outcome(() => plugin.channel("pool/echo").send(given())),
      plugin.channel("pool/null").send(told(1)), // a neighbour
      outcome(() => plugin.channel("pool/echo").send(given(), { signal })),
      outcome(() => plugin.channel("echo").call(given())),
      outcome(() => plugin.channel("pool/echo").send(null, { attachments: [given()] })),
      outcome(() => plugin.channel("echo").call(null, [given()])),
      outcome(() => plugin.channel("ticks").listen({ arguments: given() }).return()),
    ];
  },
});

/** A property of a message's content that is read, of an object that names a real memory. */
const memory = (part: "handle" | "size"): Point =>
  payload(`the ${part} of a memory`, (act, plugin) => {
    const real = plugin.allocate(64);
    const forged = { handle: (real as unknown as { handle: number }).handle, size: 64 };
    return Object.defineProperty(forged, part, { get: act });
  });

const ask = ({ plugin }: Stage, handler: () => unknown): readonly PromiseLike<unknown>[] => {
  const handled = plugin.handle("probe/asked", handler as never);
  const asked = [new Uint8Array(10), new Uint8Array(100_000)].flatMap((bytes) => [
    plugin.channel("ask").send(bytes),
    plugin.channel("serial/ask").send(bytes),
  ]);
  const ended = (): void => handled[Symbol.dispose]();
  void Promise.allSettled(asked).then(ended);
  return asked;
};

/** Serves events with a codec, and reads them at an endpoint. */
async function events({ plugin }: Stage, codec: MessageCodec<unknown>): Promise<void> {
  const [a, b] = memoryPair();
  const [here, there] = await Promise.all([connect(a, { onError() {} }), connect(b, { onError() {} })]);
  try {
    using _ = servePlugin(plugin, there, { events: { ticks: codec } });
    let count = 0;
    for await (const _event of here.events("ticks").listen(told(3, 16, 0))) if (++count === 3) break;
  } finally {
    here.terminate();
    there.terminate();
  }
}

/** All points. Add new ones here. A caller's signal has a suite of its own: `signals.test.ts`. */
const points: readonly Point[] = [
  { name: "a handler", hangs: true, reach: (stage) => ask(stage, stage.act) },
  { name: "an async handler", hangs: true, reach: (stage) => ask(stage, async () => stage.act()) },
  {
    name: "the log listener",
    options: (act) => ({ onLog: act }),
    reach: ({ plugin }) => [
      ...["one", "two"].map((text) => plugin.channel("say").send(new TextEncoder().encode(text))),
      outcome(() => plugin.channel("say").call(new TextEncoder().encode("three"))),
      plugin.channel("pool/null").send(),
    ],
  },
  memory("handle"),
  memory("size"),
  payload("the length of bytes", (act) => Object.defineProperty(new Uint8Array(8), "byteLength", { get: act })),
  payload("the length of large bytes", (act) =>
    Object.defineProperty(new Uint8Array(8192), "byteLength", { get: act }),
  ),
  payload("the buffer of bytes", (act) => Object.defineProperty(new Uint8Array(8192), "buffer", { get: act })),
  ...(["get", "has", "getPrototypeOf"] as const).map((trap) =>
    payload(`the trap ${trap} of a payload`, (act) => new Proxy({}, { [trap]: act })),
  ),
  {
    name: "an option of a call",
    reach: ({ plugin, act }) => [
      ...(["attachments", "signal", "givesBytes"] as const).map((name) =>
        outcome(() => plugin.channel("pool/echo").send(null, Object.defineProperty({}, name, { get: act }))),
      ),
      ...(["arguments", "items", "bytes", "whenFull", "signal"] as const).map((name) =>
        outcome(() =>
          plugin
            .channel("ticks")
            .listen(Object.defineProperty({}, name, { get: act }))
            .return(),
        ),
      ),
    ],
  },
  {
    name: "an element of the attachments",
    reach: ({ plugin, act }) => {
      const attachments = Object.defineProperty([], 0, { get: act, enumerable: true });
      return [
        outcome(() => plugin.channel("pool/echo").send(null, { attachments })),
        outcome(() => plugin.channel("echo").call(null, attachments)),
      ];
    },
  },
  {
    name: "a codec of events",
    reach: (stage) => [events(stage, { ...standardMessageCodec, decode: stage.act })],
  },
  {
    name: "the name of a codec",
    reach: (stage) => [
      events(stage, Object.defineProperty({ ...standardMessageCodec }, "name", { get: stage.act }) as never),
    ],
  },
];

const stray: unknown[] = [];
const caught = (reason: unknown): void => void stray.push(reason);
const kinds = ["uncaughtException", "unhandledRejection"] as const;
const others = new Map<string, NodeJS.UncaughtExceptionListener[]>();

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  for (const kind of kinds) {
    others.set(kind, process.listeners(kind as "uncaughtException"));
    process.removeAllListeners(kind);
    process.on(kind, caught);
  }
});

afterEach(() => {
  vi.restoreAllMocks();
  stray.length = 0;
  for (const kind of kinds) {
    process.removeAllListeners(kind);
    for (const each of others.get(kind) ?? []) process.on(kind, each);
  }
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Plays misdeeds at a point, one after the other, with one plugin. */
async function play(point: Point, some: Readonly<Record<string, Misdeed>>): Promise<void> {
  let act: Misdeed = () => undefined;
  const plugin = await open(point.options?.(() => act()));
  for (const [name, misdeed] of Object.entries(some)) {
    act = misdeed;
    await Promise.allSettled(point.reach({ plugin, act }));
    await turn();
    expect([name, stray]).toEqual([name, []]);
    expect([name, (await plugin.channel("pool/echo").send(told(5))).bytes]).toEqual([name, told(5)]);
  }
  await plugin.close();
  expect(plugin.stats().lent).toBe(0);
}

/** Reaches a point, closes the plugin, and waits until everything has settled. */
async function playToTheEnd(point: Point, act: (plugin: Plugin) => unknown): Promise<void> {
  let plugin: Plugin | undefined;
  const misdeed = (): unknown => plugin && act(plugin);
  plugin = await open(point.options?.(misdeed));
  const reached = Promise.allSettled(point.reach({ plugin, act: misdeed }));
  // A point that may hang is reached before the plugin closes: the close then ends its calls.
  await (point.hangs ? turn() : reached);
  await plugin.close();
  await reached;
  await turn();
  expect(stray).toEqual([]);
  expect(plugin.stats().lent).toBe(0);
}

suite("foreign code", () => {
  describe.each(points)("at $name", (point) => {
    test("that throws settles every promise, and the plugin works", () => play(point, throwing));

    test("that returns wrong values settles every promise, and the plugin works", () => play(point, returning));

    test.each(Object.keys(hanging))("that %s settles every promise when the plugin closes", (what) =>
      playToTheEnd(point, hanging[what]!),
    );

    test.each<[what: string, act: (plugin: Plugin) => unknown]>([
      ["closes the plugin", (plugin) => void plugin.close()],
      ["disposes the plugin", (plugin) => plugin[Symbol.dispose]()],
      ["calls the plugin", (plugin) => void plugin.channel("echo").call(told(1))],
      [
        "sends to the plugin",
        (plugin) =>
          void plugin
            .channel("pool/echo")
            .send(new Uint8Array(5000))
            .catch(() => {}),
      ],
      ["allocates and lends", (plugin) => [plugin.allocate(10).release(), plugin.lend(new Uint8Array(10)).release()]],
    ])("that %s settles every promise", (_what, act) => playToTheEnd(point, act));
  });
});

suite("the log listener", () => {
  test("is called with its options as `this`, and its error is printed", async () => {
    const thrown = new Error("mine");
    class Options {
      readonly #lines: string[] = [];
      get seen(): readonly string[] {
        return this.#lines;
      }
      onLog(_level: number, text: string): void {
        this.#lines.push(text);
        throw thrown;
      }
    }
    const options = new Options();
    await using plugin = await open(options);
    for (const text of ["one", "two"]) plugin.channel("say").call(new TextEncoder().encode(text));
    await plugin.channel("pool/null").send();
    await turn();
    expect(options.seen).toEqual(["one", "two"]);
    expect(vi.mocked(console.error).mock.calls).toEqual([
      ["clearway plugin, onLog threw:", thrown],
      ["clearway plugin, onLog threw:", thrown],
    ]);
    expect(stray).toEqual([]);
  });

  test("that is async and rejects has its error printed", async () => {
    const thrown = new Error("mine");
    await using plugin = await open({ onLog: async () => Promise.reject(thrown) });
    plugin.channel("say").call(new TextEncoder().encode("one"));
    await plugin.channel("pool/null").send();
    await turn();
    expect(vi.mocked(console.error).mock.calls).toEqual([["clearway plugin, onLog threw:", thrown]]);
    expect(stray).toEqual([]);
  });
});
