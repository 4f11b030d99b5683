// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdsLifelines, watchLifeline } from "../../src/host/browser.js";
import { builtUrl, gate, type Plain, plainUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Vanishing = typeof import("../fixtures/vanishing.tasks.js");

const open = (search = "") => {
  const made = pool<Vanishing>(new URL(search, builtUrl("vanishing")), { size: 1 });
  onTestFinished(() => made.terminate());
  return made;
};

describe.runIf(holdsLifelines)("a worker that ends without a message", () => {
  test("fails its started call", async () => {
    const { call } = open();
    expect(await call.ok()).toBe(1);
    expect(await reasonOf(call.vanish())).toMatchObject({ code: "worker-exited" });
  });

  test("is replaced when it was idle", async () => {
    const made = open();
    expect(await made.call.vanishSoon(0)).toBe(0);
    await expect.poll(() => made.stats().workers.restarts).toBe(1);
    expect(await made.call.ok()).toBe(1);
  });

  test("is detected before its first call", async () => {
    const made = open("?vanish");
    await made.ready();
    await expect.poll(() => made.stats().workers.restarts).toBeGreaterThan(0);
    await made.terminate();
  });
});

/** Creates a pool of one worker, and gives the test access to that worker. */
function held(url: URL | string) {
  const workers: Worker[] = [];
  const messages: { clearwayLifeline?: unknown; stray?: unknown }[] = [];
  const listen = vi.fn<(message: { clearwayLifeline?: unknown }) => void>();
  const made = testPool<Plain>(() => {
    const worker = new Worker(url, { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      messages.push(data);
      listen(data);
    });
    workers.push(worker);
    return worker;
  });
  return { made, messages, listen, worker: () => workers.at(-1)! };
}

const module = (source: string): string => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));

describe.runIf(holdsLifelines)("a worker's lifeline", () => {
  test("is announced once its lock is held, even when the first call blocks the thread", async () => {
    const { made, listen } = held(plainUrl);
    const holders = gate<(string | undefined)[]>();
    let name: unknown;
    listen.mockImplementation(({ clearwayLifeline }) => {
      if (clearwayLifeline === undefined) return;
      name = clearwayLifeline;
      void navigator.locks.query().then((locks) => holders.tell((locks.held ?? []).map((lock) => lock.name)));
    });
    expect(await made.with({ timeoutMs: 60_000 }).call.spin(300)).toBe(300);
    expect(await holders.promise).toContain(name);
  });

  test("is not announced when locks are denied, and the worker keeps working", async () => {
    const denied = module(`
      navigator.locks.request = async () => { throw new DOMException("denied", "SecurityError"); };
      addEventListener("unhandledrejection", ({ reason }) => postMessage({ stray: String(reason) }));
    `);
    const { made, messages } = held(module(`import "${denied}"; import "${plainUrl}";`));
    expect(await made.call.add(1, 2)).toBe(3);
    await made.ping();
    expect(await made.with({ timeoutMs: 60_000 }).call.add(2, 2)).toBe(4);
    const told = messages.filter((message) => "clearwayLifeline" in message || "stray" in message);
    expect(told).toEqual([]);
  });

  test("of another origin is ignored", async () => {
    const ended = vi.fn();
    await watchLifeline("clearway:test@https://elsewhere.test", new AbortController().signal, ended);
    expect(ended).not.toHaveBeenCalled();
  });
});

test("a worker whose lock is not held is terminated", async () => {
  const { made, worker } = held(plainUrl);
  expect(await made.call.add(1, 2)).toBe(3);
  const lost = reasonOf(made.call.never());
  const taken = worker();
  const terminate = vi.spyOn(taken, "terminate");
  // No worker holds this lock.
  taken.dispatchEvent(new MessageEvent("message", { data: { clearwayLifeline: `clearway:nobody@${origin}` } }));
  expect(await lost).toMatchObject({ code: "worker-exited" });
  expect(terminate).toHaveBeenCalled();
});

describe.runIf(holdsLifelines)(
  "a worker whose own terminate() fails is terminated, and nothing is thrown elsewhere",
  () => {
    const thrown = new Error("not today");
    test.each<[how: string, terminate: () => unknown]>([
      [
        "throws",
        () => {
          throw thrown;
        },
      ],
      ["rejects", () => Promise.reject(thrown)],
      [
        "returns a thenable that throws",
        () =>
          new Proxy(
            {},
            {
              get() {
                throw thrown;
              },
            },
          ),
      ],
      ["does nothing", () => undefined],
      ["never settles", () => new Promise(() => {})],
    ])("when terminate() %s", async (_how, terminate) => {
      const stray: unknown[] = [];
      const note = (event: PromiseRejectionEvent): void => {
        event.preventDefault();
        stray.push(event.reason);
      };
      addEventListener("unhandledrejection", note);
      onTestFinished(() => removeEventListener("unhandledrejection", note));
      const { made, listen, worker } = held(plainUrl);
      const named = gate<string>();
      listen.mockImplementation(({ clearwayLifeline }) => {
        if (typeof clearwayLifeline === "string") named.tell(clearwayLifeline);
      });
      expect(await made.call.add(1, 2)).toBe(3);
      const name = await named.promise;
      Object.assign(worker(), { terminate });
      await made.terminate();
      // The lock is free when the thread has ended.
      await navigator.locks.request(name, () => {});
      await new Promise((turn) => setTimeout(turn));
      expect(stray).toEqual([]);
    });
  },
);
