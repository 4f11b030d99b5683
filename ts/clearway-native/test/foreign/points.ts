// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type MessageCodec, memoryPair, standardMessageCodec } from "clearway/channel";
import type { Misdeed } from "../../../clearway/test/fixtures/misdeeds.js";
import { servePlugin } from "../../src/channel.js";
import type { Plugin, PluginOptions } from "../../src/index.js";
import { told } from "../fixtures/probe.js";

/** What a point needs: an open plugin, and the code that misbehaves. */
export interface Stage {
  readonly plugin: Plugin;
  readonly act: Misdeed;
}

/** A point at which the package calls foreign code. */
export interface Point {
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
export const points: readonly Point[] = [
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
