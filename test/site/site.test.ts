// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { HtmlValidate } from "html-validate";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { has, open as openBrowser } from "../../scripts/browsers/engines.mjs";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";
import { buildSite } from "../../site/build.mjs";
import { serve } from "./serve.js";

const out = mkdtempSync(join(tmpdir(), "clearway-site-"));
let addresses: string[] = [];

// Pages of source code differ only in their code, and take most of the time: one of twenty is coloured, and validated.
let sources = 0;
const coloured = (path: string): boolean => path === "native/include/clearway.h" || sources++ % 20 === 0;

beforeAll(async () => {
  addresses = await buildSite(out, { coloured });
});
afterAll(() => rmSync(out, { recursive: true }));

const text = (address: string): string => readFileSync(join(out, address), "utf8");

/** The values of an attribute on a page, outside of its code. The build writes attributes in double quotes. */
const attributes = (address: string, name: string): string[] =>
  [
    ...text(address)
      .replace(/<pre[\s\S]*?<\/pre>/g, "")
      .matchAll(new RegExp(` ${name}="([^"]*)"`, "g")),
  ].map(([, value]) => value!.replaceAll("&amp;", "&"));

/** The pages that the site's own frame surrounds. The lab writes the report, and tests it. */
const framed = (): string[] => addresses.filter((address) => address !== "report.html");

describe("the site", () => {
  test("has the README, the guides, and what they link to", () => {
    expect(addresses).toEqual(
      expect.arrayContaining(["index.html", "docs/guide.html", "spec/wire.html", "try/index.html"]),
    );
    expect(addresses.length).toBeGreaterThan(100);
  });

  test("has no link that leads to nothing, on no page", () => {
    const ids = new Map(framed().map((address) => [address, new Set(attributes(address, "id"))]));
    const dead: string[] = [];
    for (const address of framed()) {
      for (const href of attributes(address, "(?:href|src)")) {
        if (/^(?:https?|mailto):/.test(href)) continue;
        const [path = "", fragment] = href.split("#");
        const target = path === "" ? address : normalize(join(dirname(address), decodeURIComponent(path)));
        const known = ids.get(target);
        const unknown = fragment && known !== undefined && !known.has(decodeURIComponent(fragment));
        if (!existsSync(join(out, target)) || unknown) dead.push(`${address}: ${href}`);
      }
    }
    expect(dead).toEqual([]);
  });

  test("has relative addresses only, so that it works below any base path", () => {
    const absolute = framed().filter((address) => /(?:href|src)="\/(?!\/)/.test(text(address)));
    expect(absolute).toEqual([]);
  });

  test("is valid HTML", async () => {
    const validator = new HtmlValidate({
      extends: ["html-validate:recommended"],
      rules: {
        // The style of the source, not its validity.
        "no-trailing-whitespace": "off",
        "void-style": "off",
        "doctype-style": "off",
        "attribute-boolean-style": "off",
        "long-title": "off",
        // Highlighted code has a colour for each theme, as a style.
        "no-inline-style": "off",
        // Tables that scroll need a name and a role.
        "prefer-native-element": "off",
        "no-raw-characters": "off",
        // GitHub gives headings such ids, and links in the pages name them.
        "valid-id": ["error", { relaxed: true }],
      },
    });
    const problems: string[] = [];
    const pages = framed().filter((address, at) => !/\.\w+\.html$/.test(address) || at % 20 === 0);
    for (const address of pages) {
      const { results } = await validator.validateString(text(address), address);
      for (const { messages } of results)
        for (const { line, ruleId, message } of messages) problems.push(`${address}:${line}: ${ruleId}: ${message}`);
    }
    expect(problems.slice(0, 20)).toEqual([]);
  });
});

describe("the site in Chromium", () => {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
    server = await serve(out);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function open(
    address: string,
    options: Parameters<Browser["newPage"]>[0] = {},
  ): Promise<{ page: Page; outside: string[] }> {
    const page = await browser.newPage(options);
    // The limit of the test. A busy machine may take longer than the browser's own limit.
    page.setDefaultTimeout(120_000);
    const outside: string[] = [];
    page.on("request", (request) => {
      const url = request.url().replace(/^blob:/, "");
      if (!url.startsWith(new URL(server.url).origin)) outside.push(request.url());
    });
    page.on("pageerror", (error) => outside.push(String(error)));
    await page.goto(server.url + address);
    return { page, outside };
  }

  const shown = [
    "index.html",
    "docs/guide.html",
    "docs/experiments.html",
    "try/index.html",
    "native/include/clearway.h.html",
  ];
  const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

  test.each(shown)("has no fault that axe finds, and asks no other server: %s", async (address) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, outside } = await open(address, { colorScheme });
      await page.addScriptTag({ path: axe });
      const { violations } = await page.evaluate(() =>
        (
          globalThis as unknown as {
            axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
          }
        ).axe.run(),
      );
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
      expect(outside).toEqual([]);
      await page.close();
    }
  });

  test.each(shown)("fits a phone without scrolling sideways: %s", async (address) => {
    const { page } = await open(address, { viewport: { width: 360, height: 740 } });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.close();
  });

  test("opens the menu on a phone", async () => {
    const { page } = await open("docs/guide.html", { viewport: { width: 360, height: 740 } });
    const link = page.getByRole("link", { name: "Native plugins", exact: true }).first();
    expect(await link.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Menu" }).click();
    await link.click();
    await page.waitForURL(/docs\/native\.html$/);
    await page.close();
  });

  test("runs the same job on the main thread and in a pool, and measures the device", async () => {
    const { page, outside } = await open("try/index.html");
    await page.getByRole("button", { name: "Run on the main thread" }).click();
    await page.locator("#main-result", { hasText: "148,933" }).waitFor();
    await page.getByRole("button", { name: "Run in a pool" }).click();
    await page.locator("#pool-result", { hasText: "148,933" }).waitFor();
    await page.getByRole("button", { name: "Measure this device" }).click();
    await page.locator("#device", { hasText: /takes [\d.]+ times as long/ }).waitFor();
    expect(await page.locator("#main-stall").textContent()).toMatch(/^[\d.,]+ ms$/);
    expect(await page.locator("#isolation").textContent()).toContain("not cross-origin isolated");
    expect(await page.locator("#unsupported").isVisible()).toBe(false);
    expect(outside).toEqual([]);
    await page.close();
  });
});

// `make deep` runs these.
const everyTest = process.env["CLEARWAY_EVERY_TEST"] === "1";
describe.each(["firefox", "webkit"] as const)("the live page in %s", (engine) => {
  test.runIf(everyTest && has(engine))("runs the same job on the main thread and in a pool", async () => {
    const server = await serve(out);
    onTestFinished(() => server.close());
    const page = await openBrowser(engine);
    onTestFinished(() => page.close());
    await page.goto(`${server.url}try/index.html`);
    for (const way of ["main", "pool"]) {
      await page.evaluate((id) => document.getElementById(id)?.click(), `run-${way}`);
      const result = () => page.evaluate((id) => document.getElementById(id)?.textContent, `${way}-result`);
      await expect.poll(result, { timeout: 300_000 }).toContain("148,933");
    }
    expect(await page.evaluate(() => document.getElementById("main-stall")?.textContent)).toMatch(/^[\d.,]+ ms$/);
    expect(await page.evaluate(() => document.getElementById("unsupported")?.checkVisibility())).toBe(false);
  });
});
