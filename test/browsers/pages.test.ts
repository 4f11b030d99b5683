// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages as users open them. Their own tests press every button in Chromium. Firefox and WebKit open them in `make deep`.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Driven, has, open } from "../../scripts/browsers/engines.mjs";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";
import { type LocalServer, sendFile, serveLocally } from "../../scripts/local-server.mjs";

const everyTest = process.env["CLEARWAY_EVERY_TEST"] === "1";
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Runs in a page: resolves with the text of the element when it matches. */
function shown(selector: string, pattern: string): Promise<string> {
  return new Promise((done) => {
    const read = (): void => {
      const text = document.querySelector(selector)?.textContent ?? "";
      if (!new RegExp(pattern).test(text)) return;
      observer.disconnect();
      done(text);
    };
    const observer = new MutationObserver(read);
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    read();
  });
}

const click = (selector: string): void => document.querySelector<HTMLElement>(selector)?.click();

/** Starts an example's server, and returns its address. It ends with its test. */
async function served(path: string): Promise<string> {
  const server = spawn(process.execPath, [here(path), "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(line);
    if (found) return found[0];
  }
  throw new Error(`${path} has ended and named no address`);
}

/** The page of a newcomer, built by Vite. */
let newcomer: LocalServer;
let folder: string;
const outcome = {
  doubled: 42,
  values: [0, 1, 2, 3, 4],
  last: "student 100000",
  stalls: true,
};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "clearway-newcomer-"));
  await build({
    root: here("./newcomer"),
    logLevel: "warn",
    worker: { format: "es" },
    build: { outDir: folder, emptyOutDir: true },
  });
  newcomer = await serveLocally(({ path }, response) =>
    sendFile(folder, path === "/" ? "index.html" : path.slice(1), response),
  );
});
afterAll(async () => {
  await newcomer?.close();
  rmSync(folder, { recursive: true });
});

test("a newcomer's page works in Chromium", async () => {
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(newcomer.url);
  await page.locator("body", { hasText: /^\{/ }).waitFor();
  expect(JSON.parse(await page.locator("body").innerText())).toEqual(outcome);
});

describe.each(["firefox", "webkit"] as const)("in %s", (engine) => {
  describe.runIf(everyTest && has(engine))("the page of", () => {
    let page: Driven;
    beforeAll(async () => {
      page = await open(engine);
    });
    afterAll(() => page?.close());

    test("a newcomer works", async () => {
      await page.goto(newcomer.url);
      expect(JSON.parse(await page.evaluate(shown, "body", "^{"))).toEqual(outcome);
    });

    test("the demo makes a million rows without the main thread", async () => {
      await page.goto(await served("../../examples/demo/serve.mjs"));
      await page.evaluate(click, '#students button[data-way="clearway"]');
      expect(await page.evaluate(shown, "#students .outcome", "^1,000,000 rows")).toContain("Adeyemi");
    });

    test("the remote control connects and shows frames", async () => {
      await page.goto(`${await served("../../examples/remote-control/serve.mjs")}?width=320&height=180&rate=30`);
      await page.evaluate(shown, '#state[data-state="connected"]', "");
      await page.evaluate(shown, "#frames:not([data-shown='0'])[data-shown]", "");
    });
  });
});
