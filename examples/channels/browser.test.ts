// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";

const names = ["page", "frame", "tabs.worker", "cache.worker", "content", "background"];
const html = `<!doctype html><title>example</title><script type="module">
import * as page from "/page.js";
import * as frame from "/frame.js";
import * as content from "/content.js";
import * as background from "/background.js";
globalThis.example = { ...page, ...frame, ...content, ...background };
</script><body>three small words`;

type Example = typeof import("./browser/page.js") &
  typeof import("./browser/frame.js") &
  typeof import("./browser/content.js") &
  typeof import("./browser/background.js");

declare global {
  var example: Example;
}

const scripts = new Map<string, string>();
const server = createServer(({ url = "/" }, response) => {
  const script = scripts.get(url);
  response.setHeader("Content-Type", script === undefined ? "text/html" : "text/javascript").end(script ?? html);
});
let browser: Browser;
const origin = (host: string): string => `http://${host}:${(server.address() as { port: number }).port}`;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: names.map((name) => fileURLToPath(new URL(`./browser/${name}.js`, import.meta.url))),
    bundle: true,
    format: "esm",
    outdir: "/",
    write: false,
    logLevel: "warning",
  });
  for (const { path, text } of outputFiles) scripts.set(`/${path.split(/[/\\]/).at(-1)}`, text);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
});
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

test("a page calls a frame of another site, a shared worker and a service worker", async () => {
  const page = await browser.newPage();
  await page.goto(origin("127.0.0.1"));
  const away = origin("localhost");
  await page.evaluate(
    (src) =>
      new Promise<void>((loaded) => {
        document.body.append(Object.assign(document.createElement("iframe"), { src, onload: () => loaded() }));
      }),
    away,
  );
  const greeting = page.evaluate(async (origin) => {
    const widget = await globalThis.example.openWidget(document.querySelector("iframe")!, origin);
    return widget.call("greet", "shop");
  }, away);
  await page.frames()[1]!.evaluate((origin) => globalThis.example.serveWidget([origin]), origin("127.0.0.1"));
  expect(await greeting).toBe(`hello shop, from ${away}`);

  expect(await page.evaluate(async () => (await globalThis.example.openTabs()).call("visit", null))).toEqual({
    visits: 1,
    open: 1,
  });

  const cached = await page.evaluate(async () => {
    await navigator.serviceWorker.register("/cache.worker.js", { type: "module" });
    return [await globalThis.example.callCache("names"), await globalThis.example.callCache("page")];
  });
  expect(cached).toEqual([[], `${origin("127.0.0.1")}/`]);
  await page.close();
});

test("the parts of an extension call each other over their ports", async () => {
  const page = await browser.newPage();
  await page.goto(origin("127.0.0.1"));
  const words = await page.evaluate(async () => {
    const { port1, port2 } = new MessageChannel();
    // A port of an extension, as far as the transport sees it.
    const extension = (port: MessagePort) => ({
      postMessage: (message: unknown) => port.postMessage(JSON.parse(JSON.stringify(message))),
      disconnect: () => port.close(),
      onMessage: {
        addListener: (listener: (message: never) => void) => {
          port.onmessage = ({ data }) => listener(data as never);
        },
        removeListener: () => {},
      },
      onDisconnect: { addListener: () => {}, removeListener: () => {} },
    });
    void globalThis.example.serveWords(extension(port1));
    return globalThis.example.countWords(extension(port2));
  });
  expect(words).toBe(3);
  await page.close();
});
