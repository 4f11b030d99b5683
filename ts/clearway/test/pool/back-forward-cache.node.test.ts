// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages of a real browser that the user leaves and returns to. A browser keeps such a page in its back/forward cache, with its workers.
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { has, open } from "../../../../scripts/browsers/engines.mjs";
import { chromiumFlags, chromiumPath } from "../../../../scripts/chromium.mjs";
import type { Pool } from "../../src/index.js";
import { Site } from "../ends/sites.js";

declare global {
  // What a page of these tests keeps while it is in the cache.
  var pool: typeof import("../../src/index.js").pool;
  var made: Pool<{ add(a: number, b: number): number; vanish(): void }>;
}

// The library replaces `close` when the pool greets the worker.
const tasks = `import { expose } from "/worker.js";
const close = self.close.bind(self);
expose({ add: (a, b) => a + b, vanish: () => new Promise(() => close()) });`;

const site = new Site({
  "/tasks.js": tasks,
  "/library.js": 'import { pool } from "/index.js"; globalThis.pool = pool;',
});
let browser: Browser;
let page: Page;

beforeAll(async () => {
  await site.listen();
  browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: chromiumFlags,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });
});
afterAll(async () => {
  await browser.close();
  site.close();
});
beforeEach(async () => {
  page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(site.origin());
  await page.addScriptTag({ type: "module", url: "/library.js" });
});

/** Starts a pool of one worker. If `late`, the page learns of the worker's lock only when the user leaves. */
const startPool = (late: boolean): Promise<void> =>
  page.evaluate(async (late) => {
    const announced = new Promise<void>((told) => {
      globalThis.made = globalThis.pool(
        () => {
          const worker = new Worker("/tasks.js", { type: "module" });
          const hold = (event: MessageEvent): void => {
            if (event.data?.clearwayLifeline === undefined) return;
            told();
            if (!late) return;
            event.stopImmediatePropagation();
            worker.removeEventListener("message", hold);
            addEventListener("pagehide", () => worker.dispatchEvent(new MessageEvent("message", { data: event.data })));
          };
          worker.addEventListener("message", hold);
          return worker;
        },
        { size: 1 },
      );
    });
    await globalThis.made.ready();
    await announced;
  }, late);

/** Leaves the page and returns. Returns whether the page was in the cache meanwhile. */
async function leaveAndReturn(): Promise<boolean> {
  await page.goto(site.origin("localhost"));
  await page.goBack({ waitUntil: "commit" });
  return page.evaluate(() => "made" in globalThis);
}

const loss = (): Promise<unknown> =>
  page.evaluate(() =>
    globalThis.made.call.vanish().then(
      () => "returned",
      (error) => error.code,
    ),
  );

test("a page with an idle pool is kept in the back/forward cache, and its pool works on return", async () => {
  await startPool(false);
  // The page waits for the lock as long as the worker lives.
  await page.waitForFunction(async () => (await navigator.locks.query()).pending?.length === 1);
  expect(await leaveAndReturn()).toBe(true);
  expect(await page.evaluate(() => globalThis.made.call.add(1, 2))).toBe(3);
  expect(await loss()).toBe("worker-exited");
});

test("a page that the user leaves before it waits for its worker's lock is kept, too, and notices the worker's end on return", async () => {
  await startPool(true);
  expect(await leaveAndReturn()).toBe(true);
  expect(await page.evaluate(() => globalThis.made.call.add(1, 2))).toBe(3);
  expect(await loss()).toBe("worker-exited");
});

const start = `import { pool } from "/index.js";
globalThis.made = pool(() => new Worker("/tasks.js", { type: "module" }), { size: 1 });
await globalThis.made.ready();
globalThis.started();`;
// `make deep` runs these.
const everyTest = process.env["CLEARWAY_EVERY_TEST"] === "1";
describe.each(["firefox", "webkit"] as const)("in %s", (engine) => {
  test.runIf(everyTest && has(engine))(
    "a page that the user leaves right after ready() is kept, and its pool works on return",
    async () => {
      const driven = await open(engine);
      onTestFinished(() => driven.close());
      await driven.goto(site.origin());
      // Not from a file: Firefox does not keep a page in the first second after a module with a URL has started a worker of any kind.
      await driven.evaluate(
        (start) =>
          new Promise((loaded) => {
            const script = document.createElement("script");
            script.type = "module";
            script.text = start;
            Object.assign(globalThis, { started: loaded });
            document.head.append(script);
          }),
        start,
      );
      await driven.goto(site.origin("localhost"));
      // The driver of Firefox waits for a page that loads, and none does.
      void driven.back().catch(() => {});
      const state = () => driven.evaluate(() => `${location.hostname} ${"made" in globalThis}`).catch(String);
      await expect.poll(state).toBe("127.0.0.1 true");
      expect(await driven.evaluate(() => globalThis.made.call.add(1, 2))).toBe(3);
    },
  );
});
