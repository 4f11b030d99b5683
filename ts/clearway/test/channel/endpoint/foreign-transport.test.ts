// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import type { ChannelTransport } from "../../../src/channel/transport/transport.js";
import { useFakeTimers, useRealTimers } from "../../fixtures/fake-timers.js";
import { throwing } from "../../fixtures/misdeeds.js";
import { Watch } from "../../pool/chaos/watch.js";
import { connected, endWithTest, rejection, until } from "./pairs.js";

// A transport may be an app's own, or stand on a socket that is. Whatever it throws, every promise of the endpoint settles.

const watchMs = Number(globalThis.process?.env?.["CLEARWAY_FUZZ_WATCH_MS"] ?? 60_000);
afterEach(() => {
  useRealTimers();
  vi.restoreAllMocks();
});

type Method = "open" | "send" | "close" | "pause" | "resume";

/** A transport with methods that fail as soon as the test says so. */
function foreign(under: ChannelTransport, act: () => unknown) {
  const wrong = new Set<Method>();
  const transport = new Proxy(under, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => (wrong.has(name as Method) ? act() : value.apply(target, args));
    },
  });
  return { transport, wrong };
}

// What is caught is caught whatever it is; these differ in how they may be reported.
const some = ["throws an Error", "throws a text", "throws nothing", "throws a revoked Proxy"].map(
  (name) => [name, throwing[name]!] as const,
);

describe.each(["clearway", "plain"] as const)("a transport of an app, on the %s wire", (wire) => {
  test.each(some)("whose methods %s leaves no call and no stream waiting", async (_what, act) => {
    for (const method of ["send", "close", "pause", "resume"] as const) {
      for (const end of ["close", "terminate", "broken"] as const) {
        const [one, two] = memoryPair();
        const { transport, wrong } = foreign(one, act);
        const { a, b } = await connected([transport, two], { wire, onError: () => {}, replyBytesMax: 64 });
        endWithTest(b);
        b.methods("m").handle({ never: () => new Promise(() => {}), big: () => "x".repeat(1000) });
        b.events("e").serve(() => {});
        a.methods("m").handle({ big: () => "x".repeat(1000) });
        const watch = new Watch();
        const follow = (promise: Promise<unknown>): void => void watch.follow(`${method} ${end}`, promise);
        follow(a.methods("m").call("never"));
        const stream = a.events("e").listen();
        follow(stream.next());
        wrong.add(method);
        follow(a.methods("m").call("big"));
        follow(a.messages("m").post(1));
        follow(b.methods("m").call("big", null, { deadlineMs: 20 }));
        for (let n = 0; n < 3; n++) await new Promise((resolve) => setTimeout(resolve));
        if (end === "close") follow(a.close({ timeoutMs: 5 }));
        else if (end === "terminate") a.terminate();
        else {
          // No frame of any kind.
          two.send(new Uint8Array(3));
          await until(() => a.stats().calls === 0);
        }
        follow(a.closed);
        await watch.all(watchMs);
        await until(() => a.stats().handling === 0);
        expect(a.stats()).toMatchObject({ calls: 0, listening: 0, serving: 0 });
        b.terminate();
      }
    }
  });

  test.each(["open", "send", "close"] as const)(
    "whose %s() throws before the hello rejects connect()",
    async (method) => {
      useFakeTimers();
      const { transport, wrong } = foreign(memoryPair()[0], () => {
        throw new Error("foreign");
      });
      wrong.add(method);
      const connecting = rejection(connect(transport, { wire, helloMs: 100 }));
      await vi.advanceTimersByTimeAsync(100);
      expect(await connecting).toMatchObject(method === "close" ? { code: "deadline" } : { message: "foreign" });
      expect(vi.getTimerCount()).toBe(0);
    },
  );
});
