// SPDX-License-Identifier: MIT OR Apache-2.0
// The pages of docs/recipes-apps.md, built and served by Vite, in Chromium.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { build, createServer } from "vite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";
import { type LocalServer, sendFile, serveLocally } from "../../scripts/local-server.mjs";
import { patienceMs } from "../shown.js";

const source = fileURLToPath(new URL("./src", import.meta.url));
// Below this folder, so that the copies find the library.
const folder = mkdtempSync(fileURLToPath(new URL("./.pages-", import.meta.url)));
let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** Opens a page. An error on it fails the test. */
async function open(url: string): Promise<Page> {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  page.on("pageerror", (error) => {
    throw error;
  });
  page.setDefaultTimeout(patienceMs);
  await page.goto(url);
  return page;
}

const titled = (page: Page, title: string) => page.waitForFunction((text) => document.title === text, title);

describe("a built page", () => {
  const site = join(folder, "site");
  let page: LocalServer;
  let cdn: LocalServer;
  let policy = "";
  beforeAll(async () => {
    const headers = (): OutgoingHttpHeaders => (policy === "" ? {} : { "content-security-policy": policy });
    page = await serveLocally(({ path }, response) => sendFile(site, path, response, headers()));
    cdn = await serveLocally(({ path }, response) =>
      sendFile(site, path, response, { "access-control-allow-origin": "*", ...headers() }),
    );
    await build({
      root: source,
      base: cdn.url,
      configFile: false,
      logLevel: "error",
      worker: { format: "es" },
      build: {
        outDir: site,
        target: "es2022",
        rolldownOptions: { input: ["index", "cdn", "strict"].map((name) => join(source, `${name}.html`)) },
      },
    });
  });
  afterAll(() => Promise.all([page.close(), cdn.close()]));

  test("starts a worker from a script of another origin, with these directives", async () => {
    policy = `default-src 'none'; script-src ${cdn.url}; worker-src blob: ${cdn.url}`;
    await titled(await open(`${page.url}cdn.html`), "294 words");
  });

  test("starts a worker where Trusted Types are required, with these directives", async () => {
    policy =
      "default-src 'none'; script-src 'self'; worker-src 'self'; require-trusted-types-for 'script'; trusted-types workers";
    await titled(await open(`${cdn.url}strict.html`), "294 words");
  });

  test("shows only the words for the newest text", async () => {
    policy = "";
    const tab = await open(cdn.url);
    const titles = await tab.evaluate(async () => {
      const input = document.querySelector("input")!;
      const shown: string[] = [];
      const done = new Promise((resolve) => {
        new MutationObserver(() => resolve(shown.push(document.title))).observe(document.querySelector("title")!, {
          childList: true,
        });
      });
      for (const text of ["z", "zz"]) {
        input.value = text;
        input.dispatchEvent(new Event("input"));
      }
      await done;
      return shown;
    });
    expect(titles).toEqual(["294 words"]);
    expect(await tab.locator("li").first().textContent()).toBe("zz");
  });
});

test("a hot update replaces the pool of the changed module", async () => {
  const root = join(folder, "hot");
  cpSync(source, root, { recursive: true });
  const server = await createServer({
    root,
    configFile: false,
    cacheDir: join(folder, "cache"),
    logLevel: "error",
    server: { host: "127.0.0.1", port: 0 },
  });
  onTestFinished(() => server.close());
  await server.listen();
  const tab = await open(server.resolvedUrls!.local[0]!);
  await tab.fill("input", "zz");
  await titled(tab, "294 words");
  const updated = tab.waitForEvent("console", (message) => message.text().includes("hot updated"));
  const file = join(root, "search.ts");
  writeFileSync(file, `${readFileSync(file, "utf8")}\ndocument.title = "updated";\n`);
  await updated;
  await titled(tab, "updated");
  await tab.fill("input", "zy");
  await titled(tab, "298 words");
  await expect.poll(() => tab.workers().length).toBe(1);
});
