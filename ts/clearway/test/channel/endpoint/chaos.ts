// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect } from "vitest";
import type { Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { ListenOptions } from "../../../src/channel/endpoint/options.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import type { EventSink } from "../../../src/channel/endpoint/source.js";
import { ClearwayError } from "../../../src/error/clearway-error.js";
import fc from "../../fixtures/fast-check.js";
import { connected, transports } from "./pairs.js";

// Whatever two ends do to each other, in any order, over any transport and either wire: every promise settles, streams keep
// their order, and nothing is left behind.

type Side = "a" | "b";
export type Step =
  | { do: "call"; side: Side; method: string; deadline: boolean; abortAt: number }
  | { do: "send" | "post"; side: Side; channel: string }
  | { do: "listen"; side: Side; reads: number; leave: "break" | "abort" | "stay"; options: ListenOptions }
  | { do: "close" | "terminate"; side: Side }
  | { do: "turns"; count: number };

const side = fc.constantFrom<Side>("a", "b");
/** One thing that happens between two ends. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      side,
      method: fc.constantFrom("echo", "later", "throw", "never", "missing", "back"),
      deadline: fc.boolean(),
      abortAt: fc.integer({ min: 0, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("send" as const, "post" as const),
      side,
      channel: fc.constantFrom("m", "nobody"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("listen" as const),
      side,
      reads: fc.integer({ min: 0, max: 12 }),
      leave: fc.constantFrom("break" as const, "abort" as const, "stay" as const),
      options: fc.record(
        {
          window: fc.record({ items: fc.integer({ min: 1, max: 4 }) }),
          capacity: fc.integer({ min: 1, max: 4 }),
          whenFull: fc.constantFrom("wait", "fail", "dropOldest", "dropNewest"),
        },
        { requiredKeys: [] },
      ) as fc.Arbitrary<ListenOptions>,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("turns" as const), count: fc.integer({ min: 0, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("close" as const, "terminate" as const), side }) },
);

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

function serve(end: Endpoint): void {
  const channel = end.methods("calls");
  channel.handle({
    echo: (value: unknown) => value,
    later: async (value: unknown) => {
      await turn();
      return value;
    },
    throw: () => {
      throw new Error("thrown");
    },
    never: () => new Promise(() => {}),
    back: (value: unknown) => channel.call("echo", value),
  });
  end.messages("m").handle((value) => value);
  end.events("e").serve((args, sink: EventSink<number>) => {
    if (args === "pulled")
      return (async function* () {
        for (let n = 0; n < 30; n++) {
          yield n;
          if (n % 3 === 0) await turn();
        }
      })();
    for (let n = 0; n < 30; n++) sink.send(n).catch(() => {});
    sink.end();
    return undefined;
  });
}

function expected(error: unknown): boolean {
  return error instanceof ClearwayError || error instanceof RemoteError || (error as Error)?.name === "AbortError";
}

/** Plays the steps over a carrier and checks all that must hold afterwards. Throws what did not. */
export async function play(carrier: string, wire: "clearway" | "plain", steps: Step[]): Promise<void> {
  const ends = await connected(transports[carrier]!(), { wire, earlyMs: 20, onError: () => {} });
  serve(ends.a);
  serve(ends.b);
  let left = 0;
  const wrong: unknown[] = [];
  const watch = (promise: Promise<unknown>): void => {
    left++;
    promise
      .catch((error) => expected(error) || wrong.push(error))
      .finally(() => {
        left--;
      });
  };
  const listen = async (end: Endpoint, { reads, leave, options }: Step & { do: "listen" }): Promise<void> => {
    const controller = new AbortController();
    const args = reads % 2 === 0 ? "pulled" : "pushed";
    const stream = end.events("e").listen<number>(args, { ...options, signal: controller.signal });
    let before = -1;
    let count = 0;
    for await (const value of stream) {
      // The plain wire does not say which stream an event is of: a second listen may meet the first one's last ones.
      if (wire === "clearway" && !(value > before)) wrong.push(`${value} after ${before}`);
      before = value;
      if (++count < reads) continue;
      if (leave === "break") break;
      if (leave === "abort") controller.abort();
    }
  };
  for (const each of steps) {
    if (each.do === "turns") {
      for (let n = 0; n < each.count; n++) await turn();
      continue;
    }
    const end = ends[each.side];
    if (each.do === "call") {
      const controller = new AbortController();
      const options = { signal: controller.signal, ...(each.deadline && { deadlineMs: 3 }) };
      watch(end.methods("calls").call(each.method, { n: 1 }, options));
      if (each.abortAt < 4)
        void Promise.resolve().then(async () => {
          for (let n = 0; n < each.abortAt; n++) await turn();
          controller.abort();
        });
    } else if (each.do === "send") watch(end.messages(each.channel).send("x"));
    else if (each.do === "post") watch(end.messages(each.channel).post("x"));
    else if (each.do === "listen") watch(listen(end, each));
    else if (each.do === "close") watch(end.close({ timeoutMs: 5 }));
    else end.terminate();
  }
  for (let n = 0; n < 5; n++) await turn();
  ends.a.terminate();
  await Promise.all([ends.a.closed, ends.b.closed]);
  // Steps that were notified of the end settle within a few turns of the event loop. They depend on no clock.
  for (let n = 0; n < 50 && left > 0; n++) await turn();
  expect(wrong).toEqual([]);
  expect(left).toBe(0);
  for (const end of [ends.a, ends.b]) {
    const { calls, handling, listening, serving } = end.stats();
    expect({ calls, handling, listening, serving }).toEqual({ calls: 0, handling: 0, listening: 0, serving: 0 });
  }
}
