// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { standardMessageCodec, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import type { Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import type { EventSink } from "../../../src/channel/endpoint/source.js";
import { throwing } from "../../fixtures/misdeeds.js";
import { Watch } from "../../pool/chaos/watch.js";
import { endpoints, until } from "./pairs.js";

// Every point at which an endpoint calls code that is not its own, and what that code may do to the endpoint meanwhile. After it, every
// promise has settled, nothing is left, and the endpoint works, unless it was ended.

const watchMs = 60_000;
afterEach(() => void vi.restoreAllMocks());

interface Ends {
  readonly a: Endpoint;
  readonly b: Endpoint;
}

type Follow = (promise: PromiseLike<unknown>) => void;

/** How a point is reached. `act` is what foreign code does beside its own work. */
interface Point {
  options?(act: () => unknown): EndpointOptions;
  reach(ends: Ends, act: () => unknown, follow: Follow): void;
}

const read = async (stream: AsyncIterable<unknown>): Promise<void> => {
  for await (const _each of stream);
};
/** The second value, once the first is done. */
const behind = <T>(_done: unknown, value: T): T => value;
const wrong = (): never => {
  throw new Error("x");
};

/** A codec of messages that also does something else. */
const encoding = (act: () => unknown) => ({
  ...standardMessageCodec,
  encode: (value: never) => behind(act(), standardMessageCodec.encode(value)),
});
const decoding = (act: () => unknown) => ({
  ...standardMessageCodec,
  decode: (bytes: never) => behind(act(), standardMessageCodec.decode(bytes)),
});

const points: Record<string, Point> = {
  "a handler of methods": {
    reach: ({ a, b }, act, follow) => {
      b.methods("m").handle({ one: () => behind(act(), 1) });
      follow(a.methods("m").call("one", null, { deadlineMs: 20 }));
      follow(a.methods("m").call("one"));
    },
  },
  "a getter of a method's result": {
    reach: ({ a, b }, act, follow) => {
      const result = {
        get odd() {
          return behind(act(), 1);
        },
      };
      b.methods("m").handle({ one: () => result });
      follow(a.methods("m").call("one"));
    },
  },
  "a getter of an argument": {
    reach: ({ a, b }, act, follow) => {
      b.methods("m").handle({ one: () => 1 });
      const args = {
        get odd() {
          return behind(act(), 1);
        },
      };
      follow(a.methods("m").call("one", args));
      follow(read(a.events("e").listen(args)));
    },
  },
  "a handler of messages": {
    reach: ({ a, b }, act, follow) => {
      b.messages("m").handle(() => behind(act(), 1));
      follow(a.messages("m").send(1));
      follow(a.messages("m").post(1));
    },
  },
  "a source that pushes": {
    reach: ({ a, b }, act, follow) => {
      b.events("e").serve((_, sink: EventSink) => {
        follow(sink.send(1));
        act();
        follow(sink.send(2));
        sink.end();
      });
      follow(read(a.events("e").listen()));
    },
  },
  "an iterator's next": {
    reach: ({ a, b }, act, follow) => {
      let n = 0;
      const next = () => behind(act(), { done: ++n > 3, value: n });
      b.events("e").serve(() => ({ [Symbol.iterator]: () => ({ next }) }) as never);
      follow(read(a.events("e").listen()));
    },
  },
  "an iterator's return": {
    reach: ({ a, b }, act, follow) => {
      const next = () => ({ done: false, value: 1 });
      b.events("e").serve(() => ({ [Symbol.iterator]: () => ({ next, return: act }) }) as never);
      const stream = a.events("e").listen();
      follow(stream.next().then(() => stream.return()));
    },
  },
  "a listener's onDrop": {
    reach: ({ a, b }, act, follow) => {
      b.events("e").serve((_, sink: EventSink) => {
        for (let n = 0; n < 50; n++) void sink.send(n).catch(() => {});
        sink.end();
      });
      follow(
        read(a.events("e").listen(null, { window: { items: 1 }, capacity: 1, whenFull: "dropOldest", onDrop: act })),
      );
    },
  },
  "a codec that encodes": {
    reach: ({ a, b }, act, follow) => {
      b.messages("m").handle((value) => value);
      follow(a.messages("m", encoding(act)).send(1));
      follow(a.messages("m", encoding(act)).post(1));
      b.messages("n", encoding(act)).handle((value) => value);
      follow(a.messages("n").send(1));
    },
  },
  "a codec that decodes": {
    reach: ({ a, b }, act, follow) => {
      b.messages("m").handle((value) => value);
      follow(a.messages("m", decoding(act)).send(1));
      b.messages("n", decoding(act)).handle((value) => value);
      follow(a.messages("n").send(1));
      b.events("e").serve(function* () {
        yield 1;
        yield 2;
      });
      const { reply } = standardMethodCodec;
      const decode = (bytes: never) => behind(act(), reply.decode(bytes));
      follow(read(a.events("e", { ...standardMethodCodec, reply: { ...reply, decode } } as never).listen()));
    },
  },
  onError: {
    options: (act) => ({ onError: act }),
    reach: ({ a, b }, _act, follow) => {
      b.messages("m").handle(wrong);
      follow(a.messages("m").post(1));
    },
  },
  redactError: {
    options: (act) => ({ redactError: (error) => behind(act(), error) }),
    reach: ({ a, b }, _act, follow) => {
      b.methods("m").handle({ one: wrong });
      follow(a.methods("m").call("one"));
      b.events("e").serve(wrong);
      follow(read(a.events("e").listen()));
    },
  },
};

const reentries: Record<string, (ends: Ends, follow: Follow) => void> = {
  calls: ({ a, b }, follow) => {
    for (const end of [a, b]) {
      follow(end.methods("other").call("none", 1, { deadlineMs: 20 }));
      follow(end.messages("other").post(1));
      follow(end.events("none").listen().return());
    }
  },
  "closes its end": ({ b }, follow) => follow(b.close({ timeoutMs: 20 })),
  "closes the other end": ({ a }, follow) => follow(a.close({ timeoutMs: 20 })),
  "terminates both ends": ({ a, b }) => {
    a.terminate();
    b.terminate();
  },
};

describe.each(["clearway", "plain"] as const)("foreign code of a channel, on the %s wire", (wire) => {
  for (const [point, { options, reach }] of Object.entries(points)) {
    test.each(Object.keys(reentries))(`${point} that %s leaves nothing open`, async (what) => {
      vi.spyOn(console, "error").mockImplementation(() => {});
      const watch = new Watch();
      let count = 0;
      const follow: Follow = (promise) => void watch.follow(`${point}, ${what}: ${++count}`, promise);
      let ends: Ends | undefined;
      let acting = false;
      const act = (): void => {
        if (acting || ends === undefined) return;
        acting = true;
        try {
          reentries[what]!(ends, follow);
        } finally {
          acting = false;
        }
      };
      const settings = { wire, earlyMs: 20, ...options?.(act) };
      ends = await endpoints(undefined, settings);
      reach(ends, act, follow);
      await watch.all(watchMs);
      const { a, b } = ends;
      await until(() => [a, b].every((end) => end.stats().handling === 0 && end.stats().serving === 0));
      for (const end of [a, b]) expect(end.stats()).toMatchObject({ calls: 0, listening: 0 });
      if (what !== "calls") return;
      b.methods("still").handle({ works: () => "yes" });
      expect(await a.methods("still").call("works")).toBe("yes");
    });
  }

  test.each(Object.entries(throwing))("redactError that %s sends an error without details", async (_what, act) => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    const { a, b } = await endpoints(undefined, { wire, redactError: act });
    b.methods("m").handle({
      one: () => {
        throw Object.assign(new Error("secret"), { password: "secret" });
      },
    });
    const error = await a
      .methods("m")
      .call("one")
      .then(String, (reason) => reason as Error);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("secret");
    expect(a.stats().calls).toBe(0);
    printed.mockRestore();
  });
});
