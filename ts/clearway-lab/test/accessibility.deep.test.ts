// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens every page that the lab writes in Chromium: axe finds no violation, nothing is wider than the page, and paper has the whole page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../src/browser/open.js";
import { parseBudget } from "../src/jank/figures.js";
import { measureAll } from "../src/jank/measure.js";
import type { Target } from "../src/jank/target.js";
import { WORKS } from "../src/ratio/device/works.js";
import { AMOUNTS } from "../src/ratio/measure-ratio.js";
import { pageHtml, STYLE as RATIO_STYLE } from "../src/ratio/page-server.js";
import { answersHtml } from "../src/report/answers/page.js";
import { jankHtml } from "../src/report/jank/page.js";
import { answered } from "./answered.js";
import { cause, run } from "./jank/evidence.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

async function jankPage(): Promise<string> {
  const target = (name: string): Target => ({ kind: "url", name, url: `http://a.test/${name}` });
  const place = { functionName: "work", url: "js/app.js", line: 3, column: 5, functionLine: 2, functionColumn: 1 };
  const report = await measureAll(
    {
      ...{
        targets: [target("a-long-folder/with-names-that-do-not-break/after.html"), target("before")],
        repeat: 2,
        steps: [],
        budget: parseBudget("50,hitch=5"),
      },
      signal: new AbortController().signal,
    },
    async () => ({
      run: run([120, 80, 60], { notes: ["a note"] }, cause({ place, code: "total += heavy(row);" })),
      runtime: "Chromium 1",
    }),
    () => {},
  );
  return jankHtml(report);
}

/** Returns the page of `clearway ratio` with its style, and with the table that its script fills. */
function ratioPage(): string {
  const page = pageHtml({ nonce: "0".repeat(32), amounts: AMOUNTS, here: "Node 20 on a processor" });
  return page
    .replace('<link rel="stylesheet" href="style.css">', `<style>${RATIO_STYLE}</style>`)
    .replace('<script type="module" src="device.js"></script>', "")
    .replace(" disabled", "")
    .replace('<table id="times" hidden></table>', TIMES);
}

const TIMES = `<table id="times">${WORKS.map(({ title }) => `<tr><th scope="row">${title}</th><td>1.23 ms</td></tr>`).join("")}</table>`;

/** The report of a way whose name does not break. */
function longNamed(): string {
  const results = answered("bench");
  const name = "x".repeat(51);
  const run = { ...results.run, interrupted: false, title: name };
  const answers = results.answers.map((each) => ({ ...each, way: name, thing: name, peer: name, name }));
  return answersHtml({ ...results, run, answers, missing: [{ why: name, names: [name] }] });
}

const PAGES: [string, () => string | Promise<string>][] = [
  ["the report of a run", () => answersHtml(answered())],
  ["the report of clearway bench", () => answersHtml(answered("bench"))],
  ["the report of a way with a long name", longNamed],
  ["the page of clearway jank", jankPage],
  ["the page of clearway ratio", ratioPage],
];

async function opened(
  html: string,
  options: { width: number; colorScheme?: "light" | "dark"; scripts?: boolean },
): Promise<Page> {
  const { width, colorScheme = "light", scripts = true } = options;
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled: scripts });
  await page.setContent(html);
  return page;
}

/** Returns what axe finds, by all of its rules or by some. */
async function violations(html: string, options: Parameters<typeof opened>[1], rules?: string[]): Promise<string[]> {
  const page = await opened(html, options);
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  await page.evaluate(axe);
  const found = await page.evaluate(async (only) => {
    const { axe: tool } = globalThis as unknown as { axe: typeof import("axe-core") };
    const chosen = only === undefined ? {} : { runOnly: only };
    const { violations: all } = await tool.run(document, { resultTypes: ["violations"], ...chosen });
    return all.map(({ id, nodes }) => `${id}: ${nodes.length} times, first ${nodes[0]?.html.slice(0, 200)}`);
  }, rules);
  await page.close();
  return found;
}

describe.each(PAGES)("%s", (_, make) => {
  let html: string;
  beforeAll(async () => {
    html = await make();
  });

  test("has no violation that axe finds, with everything open, light and dark", async () => {
    // Another colour scheme and width can change only the contrast and what scrolls.
    const light = await violations(html, { width: 1100, colorScheme: "light" });
    const dark = await violations(html, { width: 360, colorScheme: "dark" }, [
      "color-contrast",
      "scrollable-region-focusable",
    ]);
    expect([...light, ...dark]).toEqual([]);
  });

  test("is not wider than its page, without scripts, and neither is a chart or a text in one", async () => {
    const wide: string[] = [];
    for (const width of [320, 768, 1600]) {
      const page = await opened(html, { width, scripts: false });
      const size = page.locator("html");
      const [scrollWidth, clientWidth] = await size.evaluate((root) => [root.scrollWidth, root.clientWidth]);
      if (scrollWidth! > clientWidth!) wide.push(`${width}: ${scrollWidth}`);
      const marks = await page
        .locator("svg[role=img]:visible, svg[role=img]:visible text")
        .evaluateAll(
          (all, limit) =>
            all.filter((mark) => mark.getBoundingClientRect().right > limit).map(({ outerHTML }) => outerHTML),
          width,
        );
      wide.push(...marks.map((mark) => `${width}: ${mark.slice(0, 200)}`));
      await page.close();
    }
    expect(wide).toEqual([]);
  });

  test("has no table that is cut off on paper", async () => {
    // The width of A4 with Chromium's margins.
    const page = await opened(html, { width: 718, scripts: false });
    await page.emulateMedia({ media: "print" });
    const cut = await page
      .locator(".scroll:visible")
      .evaluateAll((all) =>
        all
          .filter((box) => getComputedStyle(box).overflowX !== "visible" || box.scrollWidth > box.clientWidth + 1)
          .map((box) => `${box.getAttribute("aria-label")} ${box.scrollWidth} ${box.clientWidth}`),
      );
    await page.close();
    expect(cut).toEqual([]);
  });
});
