// SPDX-License-Identifier: MIT OR Apache-2.0
// A channel between a content script and the background of an extension that runs in a real browser.
import { copyFile, cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { has, open } from "../../../../scripts/browsers/engines.mjs";
import { chromiumFlags, chromiumPath } from "../../../../scripts/chromium.mjs";
import { Site } from "./sites.js";

const dist = fileURLToPath(new URL("../../dist/browser/", import.meta.url));
const manifest = {
  manifest_version: 3,
  name: "a test of Clearway",
  version: "1",
  background: { service_worker: "background.js", type: "module" },
  content_scripts: [{ matches: ["http://127.0.0.1/*"], js: ["content.js"] }],
};
const background = `import { connect } from "./channel.js";
import { extensionTransport } from "./extension.js";
chrome.runtime.onConnect.addListener(async (port) => {
  const endpoint = await connect(extensionTransport(port));
  endpoint.methods("background").handle({
    sum: (bytes) => bytes.reduce((sum, byte) => sum + byte, 0),
    wait: () => new Promise(() => {}),
  });
  endpoint.events("ticks").serve(function* (count) { for (let tick = 0; tick < count; tick++) yield tick; });
});`;
// The page's title carries what the content script has seen.
const content = `import { connect } from "./channel.js";
import { extensionTransport } from "./extension.js";
const endpoint = await connect(extensionTransport(chrome.runtime.connect()));
const { call } = endpoint.methods("background");
const sum = await call("sum", new Uint8Array(5_000_000).fill(1));
const ticks = [];
for await (const tick of endpoint.events("ticks").listen(3)) ticks.push(tick);
const open = call("wait", null).catch((error) => error.code);
document.title = JSON.stringify({ sum, ticks });
const [code, reason] = await Promise.all([open, endpoint.closed]);
document.title = JSON.stringify({ code, reason: reason.code });`;

const site = new Site({});
let folder: string;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  await site.listen();
  folder = await mkdtemp(join(tmpdir(), "clearway-extension-"));
  for (const name of await readdir(dist))
    if (name.endsWith(".js")) await copyFile(join(dist, name), join(folder, name));
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "background.js"), background);
  // A content script is no module. It becomes one script, which needs a function around its `await`.
  const { outputFiles } = await build({
    stdin: { contents: content, resolveDir: folder },
    bundle: true,
    format: "esm",
    write: false,
  });
  await writeFile(join(folder, "content.js"), `(async () => {${outputFiles[0]!.text}})();`);
  context = await chromium.launchPersistentContext("", {
    executablePath: chromiumPath(),
    ignoreDefaultArgs: ["--disable-extensions"],
    args: [...chromiumFlags, `--disable-extensions-except=${folder}`, `--load-extension=${folder}`],
  });
  page = await context.newPage();
});
afterAll(async () => {
  await context.close();
  site.close();
  await rm(folder, { recursive: true });
});

test("an extension's parts call each other and stream, and notice that the service worker was stopped", async () => {
  await page.goto(site.origin());
  await page.waitForFunction(() => document.title.startsWith("{"));
  expect(JSON.parse(await page.title())).toEqual({ sum: 5_000_000, ticks: [0, 1, 2] });
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await worker
    .evaluate(() => (globalThis as unknown as { chrome: { runtime: { reload(): void } } }).chrome.runtime.reload())
    .catch(() => {});
  await page.waitForFunction(() => document.title.includes("reason"));
  expect(JSON.parse(await page.title())).toEqual({ code: "transport-closed", reason: "lost" });
});

test.runIf(has("firefox"))("an extension's parts call each other and stream in Firefox", async () => {
  // Firefox has a page in the background, and no service worker.
  const copy = await mkdtemp(join(tmpdir(), "clearway-firefox-extension-"));
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp(folder, copy, { recursive: true });
  const inFirefox = { ...manifest, background: { scripts: ["background.js"], type: "module" } };
  await writeFile(join(copy, "manifest.json"), JSON.stringify(inFirefox));
  const firefox = await open("firefox");
  onTestFinished(() => firefox.close());
  await firefox.installExtension?.(copy);
  await firefox.goto(site.origin());
  const title = await firefox.evaluate(
    () =>
      new Promise<string>((found) => {
        const look = (): void => {
          if (!document.title.startsWith("{")) return;
          observer.disconnect();
          found(document.title);
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, characterData: true });
        look();
      }),
  );
  expect(JSON.parse(title)).toEqual({ sum: 5_000_000, ticks: [0, 1, 2] });
});
