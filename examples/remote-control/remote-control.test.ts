// SPDX-License-Identifier: MIT OR Apache-2.0
// Drives the page in a real Chromium, through a proxy that delays every byte: the meter must find what was put in. Only what
// cannot be less is judged, since a busy machine adds to everything.

import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";
import { serveRemote } from "./src/server.mjs";

interface Remote {
  shown: number;
  dropped: number;
  sent: number;
  answered: number;
  ms: Record<string, number>;
}

const delayMs = 40;
let browser: Browser;
let proxy: Server;
let remote: Awaited<ReturnType<typeof serveRemote>>;
let far: string;

/** Passes bytes on, each piece so much later, in order. */
function delayed(port: () => number): Server {
  return createServer((client) => {
    const server = connect(port(), "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("data", (piece) => setTimeout(() => to.writable && to.write(piece), delayMs));
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
}

beforeAll(async () => {
  proxy = delayed(() => Number(new URL(remote.url).port)).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  far = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
  remote = await serveRemote(0);
  browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
});
afterAll(async () => {
  await browser?.close();
  await remote?.close();
  proxy?.close();
});

async function drive(url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForFunction(() => (globalThis as { remote?: Remote }).remote);
  for (let step = 0; step < 40; step++) {
    await page.mouse.move(200 + step * 5, 250 + step);
    const shown = await page.evaluate(() => (globalThis as unknown as { remote: Remote }).remote.shown);
    await page.waitForFunction((before) => (globalThis as unknown as { remote: Remote }).remote.shown > before, shown);
  }
  await page.waitForFunction(() => {
    const { sent, answered, ms } = (globalThis as unknown as { remote: Remote }).remote;
    return sent > 0 && sent === answered && ms["round trip"] !== undefined && ms["bare ping"] !== undefined;
  });
  return page;
}

const figures = (page: Page): Promise<Remote> =>
  page.evaluate(() => (globalThis as unknown as { remote: Remote }).remote);

test("the meter finds the delay that was put in, in the network's share and in the bare ping", async () => {
  const { ms, sent, answered } = await figures(await drive(far));
  // Timers may be a millisecond early, each way.
  expect(ms["network"]).toBeGreaterThan(2 * delayMs - 4);
  expect(ms["bare ping"]).toBeGreaterThan(2 * delayMs - 4);
  expect(ms["round trip"]).toBeGreaterThan(2 * delayMs - 4);
  expect(answered).toBe(sent);
});

test("old frames are dropped for a reader that is slow, and commands never", async () => {
  const { dropped, sent, answered } = await figures(await drive(`${remote.url}?slow=100`));
  expect(dropped).toBeGreaterThan(10);
  expect(sent).toBeGreaterThan(10);
  expect(answered).toBe(sent);
});
