// SPDX-License-Identifier: MIT OR Apache-2.0
// Both devices for real, with tiny amounts: Node in a process, and the page in the installed Chromium. Nothing is asserted about times.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../../src/browser/open.js";
import { WORKS } from "../../src/ratio/device/works.js";
import { measureRatio, type RatioEvent, type RatioOptions } from "../../src/ratio/measure-ratio.js";
import type { RatioFile } from "../../src/ratio/ratio-file.js";

const NAMES = WORKS.map(({ name }) => name);
const AMOUNTS = { rounds: 3, batchMs: 1, warmUpMsMax: 1 };
let folder: string;
let script: string;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "clearway-ratio-"));
  script = path.join(folder, "ratio-device.mjs");
  const entry = fileURLToPath(new URL("../../src/ratio/device/main.ts", import.meta.url));
  await build({ entryPoints: [entry], bundle: true, format: "esm", platform: "browser", outfile: script });
  browser = await launchChromium();
});
afterEach(() => page?.close());
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a measurement. `opened` has the page's address, `file` the result. */
function start(changes: Partial<RatioOptions> = {}) {
  const events: RatioEvent[] = [];
  let onUrl: (url: string) => void;
  const opened = new Promise<string>((resolve) => {
    onUrl = resolve;
  });
  const options = { here: "node", address: "127.0.0.1", timeoutMs: 100_000, script, amounts: AMOUNTS } as const;
  const file = measureRatio({ ...options, signal: new AbortController().signal, ...changes }, (event) => {
    events.push(event);
    if (event.kind === "waiting") onUrl(event.url);
  });
  file.catch(() => {});
  return { events, opened, file };
}

/** Opens the page as a phone would, and presses its button. */
async function open(url: string): Promise<void> {
  page = await browser.newPage({ viewport: { width: 320, height: 640 } });
  await page.goto(url);
  await page.click("#start");
}

/** Settles when the page says a text. */
const said = (text: RegExp) => page.locator("#status", { hasText: text }).waitFor();

/** Returns the file, or rejects with what the page says if it cannot measure or send. */
function result(file: Promise<RatioFile>): Promise<RatioFile> {
  const failed = page.locator("#status", { hasText: /^(Not measured|Measured, but)/ });
  const told = failed.textContent({ timeout: 0 }).then((text) => Promise.reject(new Error(`the page says: ${text}`)));
  // Once the file is there, the page's end ends the wait.
  told.catch(() => {});
  return Promise.race([file, told]);
}

describe("a ratio", () => {
  test("is measured with Node here and a page there", async () => {
    const { events, opened, file } = start({ name: "a phone" });
    await open(await opened);
    const { here, there, ratio, pieces } = await result(file);
    expect(here).toMatchObject({ host: "node", agent: `Node ${process.versions.node}` });
    expect(there).toMatchObject({ host: "page", name: "a phone", agent: expect.stringContaining("Chrome") });
    for (const { samples } of [here, there]) {
      expect(samples.pieces.map(({ name }) => name)).toEqual(NAMES);
      for (const { callMs } of samples.pieces) expect(callMs).toHaveLength(3);
    }
    expect(pieces.map(({ name }) => name)).toEqual(NAMES);
    expect(ratio).toBeGreaterThan(0);
    expect(events.map(({ kind }) => kind)).toEqual(["measuring", "measured", "waiting"]);
    await said(/^Done: 5 ms on Node \d+ on the lab's computer is \S+ ms here/);
    expect(await page.locator("#times tr").count()).toBe(NAMES.length);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });

  test("is measured with this machine's Chromium here", async () => {
    const { opened, file } = start({ here: "chromium" });
    await open(await opened);
    const { here, there } = await result(file);
    expect(here).toMatchObject({ host: "chromium", name: expect.stringMatching(/^Chromium \d+$/) });
    expect(there.name).toMatch(/^Chrome \d+ on Linux$/);
  });
});

describe("the page", () => {
  test("measures a round again in which its tab was in the background, and says so", async () => {
    const { opened, file } = start();
    page = await browser.newPage();
    // A headless tab is never in the background, so an override says that it is: when its second round begins, until it waits.
    await page.addInitScript(() => {
      let hidden = false;
      let done = false;
      Object.defineProperty(document, "hidden", { get: () => hidden });
      const set = (value: boolean) => {
        hidden = value;
        document.dispatchEvent(new Event("visibilitychange"));
      };
      const look = () => {
        const text = document.getElementById("status")!.textContent!;
        if (text.startsWith("Measuring: 1 of") && !done) {
          done = true;
          set(true);
        } else if (text.startsWith("Waiting: this tab is in the background")) setTimeout(set, 0, false);
      };
      document.addEventListener("DOMContentLoaded", () => {
        new MutationObserver(look).observe(document.getElementById("status")!, { childList: true });
      });
    });
    await page.goto(await opened);
    await page.click("#start");
    const { there } = await result(file);
    expect(there.samples.repeated).toBe(1);
    for (const { callMs } of there.samples.pieces) expect(callMs).toHaveLength(3);
  });

  test("offers to send its result again if the lab does not answer", async () => {
    const { opened, file } = start();
    page = await browser.newPage();
    await page.goto(await opened);
    let refuse = true;
    await page.route("**/result", (route) => (refuse ? route.abort() : route.continue()));
    await page.click("#start");
    await page.getByRole("button", { name: "Send again" }).waitFor();
    await said(/^Measured, but the lab does not answer: it has ended, or/);
    refuse = false;
    await page.click("#start");
    expect((await file).there.samples.repeated).toBe(0);
    await said(/^Done: /);
  });

  test("says that the clock of its browser is too coarse", async () => {
    const controller = new AbortController();
    const { opened, file } = start({ signal: controller.signal });
    page = await browser.newPage();
    await page.addInitScript(() => {
      const real = performance.now.bind(performance);
      performance.now = () => Math.floor(real() / 100) * 100;
    });
    await page.goto(await opened);
    await page.click("#start");
    await said(/^Not measured: the clock of this browser moves in steps of 100 ms/);
    controller.abort();
    await expect(file).rejects.toThrow("interrupted");
  });

  test("reports nothing to the console", async () => {
    const { opened, file } = start();
    page = await browser.newPage();
    const told: string[] = [];
    page.on("console", (message) => told.push(message.text()));
    page.on("pageerror", (error) => told.push(error.message));
    await page.goto(await opened);
    await page.click("#start");
    await result(file);
    expect(told).toEqual([]);
  });
});

describe("a measurement that ends early", () => {
  test("says that no device came within its time", async () => {
    const { file } = start({ timeoutMs: 1 });
    await expect(file).rejects.toThrow("no device sent a result within 0.001 s; --timeout sets this limit");
  });

  test("ends the process that measures Node when it is interrupted", async () => {
    const controller = new AbortController();
    const { file } = start({ signal: controller.signal, amounts: { ...AMOUNTS, rounds: 1_000_000 } });
    const children = () => execFileSync("ps", ["-o", "args=", "--ppid", String(process.pid)]).toString();
    await expect.poll(children, { timeout: 300_000 }).toContain("ratio-device.mjs");
    controller.abort();
    await expect(file).rejects.toThrow();
    await expect.poll(children, { timeout: 300_000 }).not.toContain("ratio-device.mjs");
  });

  test("says why Chromium cannot be measured", async () => {
    const { CLEARWAY_CHROMIUM: before } = process.env;
    process.env["CLEARWAY_CHROMIUM"] = "/nowhere";
    try {
      await expect(start({ here: "chromium" }).file).rejects.toThrow(
        "CLEARWAY_CHROMIUM names a file that does not exist",
      );
    } finally {
      if (before === undefined) delete process.env["CLEARWAY_CHROMIUM"];
      else process.env["CLEARWAY_CHROMIUM"] = before;
    }
  });
});
