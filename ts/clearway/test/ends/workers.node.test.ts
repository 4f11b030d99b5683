// SPDX-License-Identifier: MIT OR Apache-2.0
// Channels to shared workers and service workers of a real browser: several tabs, tabs that are closed, and workers that are stopped.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CloseReason, Endpoint } from "../../src/channel.js";
import { launch, opened, Site } from "./sites.js";

declare global {
  // What a page of these tests keeps between two steps.
  var endpoint: Promise<Endpoint>;
  var pending: Promise<unknown>;
}

const shared = `import { connect } from "/channel.js";
import { serveSharedWorker } from "/shared-worker.js";
let calls = 0;
const channels = serveSharedWorker(async (transport) => {
  const endpoint = await connect(transport);
  endpoint.methods("worker").handle({
    count: () => ++calls,
    connections: () => channels.connections,
    wait: () => new Promise(() => {}),
    end: () => self.close(),
    closeAll: () => setTimeout(() => channels.close({ code: "closed", message: "enough" })),
  });
});`;
const service = `import { connect } from "/channel.js";
import { serveServiceWorker } from "/service-worker.js";
addEventListener("install", () => skipWaiting());
let calls = 0;
const channels = serveServiceWorker(async (transport, client) => {
  const endpoint = await connect(transport);
  endpoint.methods("worker").handle({
    count: () => ++calls,
    connections: () => channels.connections,
    client: () => [client.type, client.url],
    wait: () => new Promise(() => {}),
  });
});`;
const broken = (serve: string, entry: string): string =>
  `import { ${serve} } from "/${entry}.js";
addEventListener("install", () => skipWaiting());
${serve}(() => { throw new Error("not today"); }, { onError: () => { throw new Error("nor this"); } });`;

const site = new Site({
  "/shared.js": shared,
  "/service.js": service,
  "/broken-shared.js": broken("serveSharedWorker", "shared-worker"),
  "/broken-service.js": broken("serveServiceWorker", "service-worker"),
  "/thrower.js": "throw new Error('cannot start');",
});
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  await site.listen();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  site.close();
});
beforeEach(async () => {
  context = await browser.newContext();
  page = await opened(context, site.origin());
});
afterEach(() => context.close());

const toShared = (from: Page, script = "/shared.js"): Promise<void> =>
  from.evaluate((script) => {
    const worker = new SharedWorker(script, { type: "module" });
    globalThis.endpoint = lib.connect(lib.sharedWorkerTransport(worker));
    globalThis.endpoint.catch(() => {});
  }, script);

/** Connects to the active service worker. Without locks, only pings notice that the worker was stopped. */
const toService = (from: Page, { script = "/service.js", locks = true, awakeMs = 20_000 } = {}): Promise<void> =>
  from.evaluate(
    async ({ script, locks, awakeMs }) => {
      if (!locks) Object.defineProperty(navigator, "locks", { value: undefined });
      await navigator.serviceWorker.register(script, { type: "module" });
      const { active } = await navigator.serviceWorker.ready;
      globalThis.endpoint = lib.connect(lib.serviceWorkerTransport(active!, { awakeMs }));
      globalThis.endpoint.catch(() => {});
    },
    { script, locks, awakeMs },
  );

const called = (from: Page, method: string): Promise<unknown> =>
  from.evaluate(async (method) => (await globalThis.endpoint).methods("worker").call(method, null), method);

const reason = (from: Page): Promise<CloseReason> =>
  from.evaluate(() =>
    globalThis.endpoint.then(
      (endpoint) => endpoint.closed,
      (error) => error.reason,
    ),
  );

const openCall = (from: Page): Promise<void> =>
  from.evaluate(async () => {
    const { call } = (await globalThis.endpoint).methods("worker");
    globalThis.pending = call("wait", null).catch(({ code }) => code);
    await call("count", null);
  });

/** Calls until the worker has this many connections. A closed page's last message may be on its way. */
const untilConnections = (from: Page, connections: number): Promise<void> =>
  from.evaluate(async (connections) => {
    const { call } = (await globalThis.endpoint).methods("worker");
    while ((await call("connections", null)) !== connections);
  }, connections);

describe("a shared worker", () => {
  test("serves several pages, each with an endpoint of its own, and notices that one was closed", async () => {
    const other = await opened(context, site.origin());
    await toShared(page);
    await toShared(other);
    expect([await called(page, "count"), await called(other, "count")]).toEqual([1, 2]);
    expect(await called(page, "connections")).toBe(2);
    await other.close({ runBeforeUnload: false });
    await untilConnections(page, 1);
    expect(await called(page, "count")).toBe(3);
  });

  test("notices that a page navigates", async () => {
    const other = await opened(context, site.origin());
    await toShared(page);
    await toShared(other);
    expect(await called(other, "connections")).toBe(2);
    await other.goto(`${site.origin()}/other`);
    await untilConnections(page, 1);
  });

  test("that ends fails the open calls of all pages", async () => {
    const other = await opened(context, site.origin());
    for (const each of [page, other]) {
      await toShared(each);
      await openCall(each);
    }
    // A worker that ends before it holds its lock ends undetected.
    await page.evaluate(async () => {
      while (!(await navigator.locks.query()).held?.length);
    });
    for (const each of [page, other]) await called(each, "count");
    await page.evaluate(
      async () =>
        void (await globalThis.endpoint)
          .methods("worker")
          .call("end", null)
          .catch(() => {}),
    );
    for (const each of [page, other]) {
      expect(await each.evaluate(() => globalThis.pending)).toBe("transport-closed");
      expect(await reason(each)).toMatchObject({ code: "lost" });
    }
  });

  test("that closes its channels gives every page the reason", async () => {
    await toShared(page);
    await called(page, "closeAll");
    expect(await reason(page)).toEqual({ code: "closed", message: "enough" });
  });

  test("closes a page's transport with `failed` when its function throws, even if onError throws too", async () => {
    await toShared(page, "/broken-shared.js");
    expect(await reason(page)).toEqual({ code: "failed", message: "the worker could not serve this connection" });
  });

  test.for(["/missing.js", "/thrower.js"])(
    "closes the page's transport with `failed` when its script is %s",
    async (script) => {
      await toShared(page, script);
      expect(await reason(page)).toMatchObject({ code: "failed", message: "the worker failed" });
    },
  );
});

describe("a service worker", () => {
  const stop = async (): Promise<void> => {
    const session = await context.newCDPSession(page);
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
  };

  test("serves pages, knows which, and notices that one was closed", async () => {
    const other = await opened(context, `${site.origin()}/other`);
    await toService(page);
    await toService(other);
    expect([await called(page, "count"), await called(other, "count")]).toEqual([1, 2]);
    expect(await called(other, "client")).toEqual(["window", `${site.origin()}/other`]);
    await other.close();
    await untilConnections(page, 1);
  });

  test.for([
    ["by its lock", true],
    ["by a ping, in a browser without locks", false],
  ] as const)(
    "that is stopped is noticed %s, fails open calls, and starts again for a new transport",
    async ([, locks]) => {
      await toService(page, locks ? {} : { locks, awakeMs: 50 });
      await openCall(page);
      if (locks)
        await page.evaluate(async () => {
          while (!(await navigator.locks.query()).held?.length);
        });
      await called(page, "count");
      await stop();
      expect(await page.evaluate(() => globalThis.pending)).toBe("transport-closed");
      expect(await reason(page)).toMatchObject({ code: "lost" });
      await toService(page);
      expect(await called(page, "count")).toBe(1); // a new worker, without the old one's variables
    },
  );

  test("closes a page's transport with `failed` when its function throws, even if onError throws too", async () => {
    await toService(page, { script: "/broken-service.js" });
    expect(await reason(page)).toEqual({ code: "failed", message: "the worker could not serve this connection" });
  });
});

test("functions for workers refuse other threads, and arguments that are not valid", async () => {
  const messages = await page.evaluate(() => {
    const { port1 } = new MessageChannel();
    const acts: (() => unknown)[] = [
      () => lib.serveSharedWorker(() => {}),
      () => lib.serveServiceWorker(() => {}),
      () => lib.serveSharedWorker(7 as never),
      () => lib.serveServiceWorker(() => {}, { onErrors: 1 } as never),
      () => lib.sharedWorkerTransport({} as never),
      () => lib.sharedWorkerTransport({ port: port1 } as never, { windowBytes: 0 }),
      () => lib.serviceWorkerTransport(undefined as never),
      () => lib.serviceWorkerTransport({ postMessage() {} }, { awakeMs: 0 }),
    ];
    return acts.map((act) => {
      try {
        return act();
      } catch (error) {
        return `${(error as { code: string }).code}, ${(error as Error).message}`;
      }
    });
  });
  expect(messages).toEqual([
    "invalid-argument, serveSharedWorker() must be called in a shared worker",
    "invalid-argument, serveServiceWorker() must be called in a service worker",
    "invalid-argument, onTransport must be a function: onTransport=7",
    "invalid-argument, onErrors must be a known option (the nearest is onError): onErrors=1",
    "invalid-argument, worker must be a SharedWorker: worker=[object]",
    "invalid-argument, windowBytes must be a number, 1 or more: windowBytes=0",
    "invalid-argument, worker must be a ServiceWorker: worker=undefined",
    "invalid-argument, awakeMs must be a number, 1 or more: awakeMs=0",
  ]);
});
