// SPDX-License-Identifier: MIT OR Apache-2.0
// Every point at which the package calls code of the application, and the ways in which that code may fail. Afterwards every promise has
// settled, nothing was thrown elsewhere, nothing is lent, and the plugin works unless the code has closed it.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hanging, type Misdeed, returning, throwing } from "../../../clearway/test/fixtures/misdeeds.js";
import type { Plugin } from "../../src/index.js";
import { open, suite, told } from "../fixtures/probe.js";
import { type Point, points } from "./points.js";

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
