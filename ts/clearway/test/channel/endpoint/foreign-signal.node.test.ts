// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import { outcome } from "../../../src/channel/endpoint/outcome.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import {
  type ForeignSignal,
  foreignSignals,
  hanging,
  type Misdeed,
  returning,
  throwing,
} from "../../fixtures/misdeeds.js";
import { Watch } from "../../pool/chaos/watch.js";
import { endpoints, rejection, until } from "./pairs.js";

// Every use of a caller's signal by an endpoint, and what the signal may do. After it, every promise has settled, no listener is left
// on the signal, and the endpoint still works, unless the signal has ended it.

const watchMs = Number(process.env["CLEARWAY_FUZZ_WATCH_MS"] ?? 60_000);

function serve(end: Endpoint): void {
  end.methods("m").handle({
    plus: (value: unknown) => (value as number) + 1,
    never: () => new Promise(() => {}),
  });
  end.events("e").serve(function* () {
    for (let n = 0; n < 3; n++) yield n;
  });
  end.events("long").serve(() => {});
}

/** Uses signals in every way in which an endpoint takes one. */
async function use(a: Endpoint, make: () => ForeignSignal, follow: (promise: Promise<unknown>) => void): Promise<void> {
  const used: ForeignSignal[] = [];
  const fresh = (): ForeignSignal => {
    used.push(make());
    return used.at(-1)!;
  };
  const read = async (stream: AsyncIterable<unknown>): Promise<void> => {
    for await (const _each of stream);
  };
  const { signal } = fresh();
  follow(a.methods("m").call("plus", 1, { signal }));
  follow(outcome(a.methods("m").call("plus", 1, { signal }), signal));
  follow(read(a.events("e").listen(null, { signal: fresh().signal })));
  const waiting = [fresh(), fresh(), fresh()] as const;
  const call = (signal: AbortSignal) => a.methods("m").call("never", 1, { signal, deadlineMs: 5 });
  follow(call(waiting[0].signal));
  follow(outcome(call(waiting[1].signal), waiting[1].signal));
  const stream = a.events("long").listen(null, { signal: waiting[2].signal });
  follow(read(stream));
  const [ta, tb] = memoryPair();
  const hello = fresh();
  const never = connect(ta, { signal: hello.signal, helloMs: 5 });
  follow(never.then((end) => end.terminate()));
  for (const each of [...waiting, hello]) each.abort();
  // For a signal whose abort is never heard.
  follow(stream.return());
  await never.catch(() => {});
  tb.close();
  await until(() => a.stats().calls === 0 && a.stats().listening === 0);
}

async function played(
  name: string,
  wire: "clearway" | "plain",
  act: Misdeed,
  reenter?: (ends: { a: Endpoint; b: Endpoint }, watch: Watch) => void,
): Promise<void> {
  const ends = await endpoints(undefined, { wire, onError: () => {} });
  serve(ends.b);
  const watch = new Watch();
  const signals: AbortSignal[] = [];
  let acting = false;
  const own = (): unknown => {
    if (reenter && !acting) {
      acting = true;
      try {
        reenter(ends, watch);
      } finally {
        acting = false;
      }
    }
    return act();
  };
  let count = 0;
  const follow = (promise: Promise<unknown>): void => void watch.follow(`${name}: ${++count}`, promise);
  const make = (): ForeignSignal => {
    const made = foreignSignals[name]!(own);
    signals.push(made.signal);
    return made;
  };
  follow(use(ends.a, make, follow));
  await watch.all(watchMs);
  const left = signals.reduce((sum, each) => sum + getEventListeners(each, "abort").length, 0);
  // A signal whose removeEventListener() is foreign, or that threw after it added a listener, may keep it.
  if (!/removeEventListener|adds first/.test(name)) expect(left).toBe(0);
  const { calls, listening } = ends.a.stats();
  expect({ calls, listening }).toEqual({ calls: 0, listening: 0 });
  if (reenter === undefined) expect(await ends.a.methods("m").call("plus", 1)).toBe(2);
}

const reentries: Record<string, (ends: { a: Endpoint; b: Endpoint }, watch: Watch) => void> = {
  "calls the endpoint": ({ a }, watch) => {
    void watch.follow("call", a.methods("m").call("plus", 1));
    void watch.follow("stream", a.events("long").listen().return?.() ?? Promise.resolve());
  },
  "closes the endpoint": ({ a }, watch) => void watch.follow("close", a.close({ timeoutMs: 20 })),
  "terminates the endpoint": ({ a }) => a.terminate(),
};

describe.each(["clearway", "plain"] as const)("a caller's signal, on the %s wire", (wire) => {
  describe.each(Object.keys(foreignSignals))("%s", (name) => {
    test.each(Object.entries({ ...throwing, ...returning, ...hanging }))("that %s harms no other call", (_what, act) =>
      played(name, wire, act),
    );

    test.each(Object.keys(reentries))("that %s settles every call", (what) =>
      played(name, wire, () => {}, reentries[what]),
    );
  });

  test("that is not an AbortSignal is refused with the field's name", async () => {
    const { a } = await endpoints(undefined, { wire });
    for (const signal of [3, null, {}, "x"] as never[]) {
      expect(await rejection(a.methods("m").call("plus", 1, { signal }))).toMatchObject({ code: "invalid-argument" });
      expect(() => a.events("e").listen(null, { signal })).toThrow(/signal must be an AbortSignal/);
      expect(await rejection(connect(memoryPair()[0], { signal }))).toMatchObject({ code: "invalid-argument" });
    }
    expect(a.stats()).toMatchObject({ calls: 0, listening: 0 });
  });
});
