// SPDX-License-Identifier: MIT OR Apache-2.0
// Presses the demo's buttons in a real Chromium and reads its table.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Shown } from "../shown.js";

const jobs = ["students", "photo", "upload"] as const;
const ways = ["main-thread", "by-hand", "comlink", "clearway"] as const;

const outcomes = {
  students: /^1,000,000 rows, from 1 Asha Adeyemi to 1000000 /,
  upload: /^192 MB arrived in 6 chunks, each checked$/,
};

interface Run {
  longestStallMs: number;
  droppedFrames: number;
  outcome: string;
}

let demo: Shown;

beforeAll(async () => {
  demo = await Shown.by(new URL("./serve.mjs", import.meta.url));
});

afterAll(() => demo?.[Symbol.asyncDispose]());

describe("the demo", () => {
  test("does every job in every way, gives all ways the same results, and shows what the meter said of each", async () => {
    const page = await demo.open();
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(false);
    const pictures = new Set<string>();
    for (const job of jobs) {
      for (const way of ways) {
        const { longestStallMs, droppedFrames, outcome } = await press(page, job, way);
        expect(longestStallMs, `${job}, ${way}`).toBeGreaterThanOrEqual(0);
        expect(Number.isInteger(droppedFrames), `${job}, ${way}`).toBe(true);
        if (job === "photo") {
          const canvas = page.locator("#photo canvas");
          pictures.add(await canvas.evaluate((element: HTMLCanvasElement) => element.toDataURL()));
        } else expect(outcome).toMatch(outcomes[job]);
        if (job !== "students") continue;
        const most = page.locator(`tr[data-job="students"][data-way="${way}"] .most`);
        const named = /^\d+\s% (making the rows|handing over|showing the result|waiting for the main thread)$/;
        expect(await most.innerText()).toMatch(named);
        expect(await page.locator("#students .total").innerText()).toMatch(
          /^\d+\s% of the total was .+: [\d.]+\sm?s\./,
        );
      }
    }
    expect(pictures.size).toBe(1);
    await page.close();
  });

  test("does every job with Clearway when it is cross-origin isolated", async () => {
    const page = await demo.open("?isolated");
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true);
    expect((await press(page, "students", "clearway")).outcome).toMatch(outcomes.students);
    await press(page, "photo", "clearway");
    expect(await page.getByRole("img", { name: /^Preview: mountains/ }).isVisible()).toBe(true);
    expect((await press(page, "upload", "clearway")).outcome).toMatch(outcomes.upload);
    await page.close();
  });

  test("begins the strip after its own start", async () => {
    const page = await demo.open("", undefined, driveFrames);
    const text = page.locator("#frame-text");
    await page.evaluate(() => globalThis.drive(400, 700, 900, 916, 932, 948));
    expect(await text.innerText()).toBe("Frame times: the page is starting …");
    await page.evaluate(() => globalThis.drive(964, 980, 1600));
    expect(await text.innerText()).toBe("3 frames in the last second; longest of the last 8 s: 620\u00a0ms");
    await page.close();
  });

  test("hints at the rest of the table when, and only when, the table can scroll", async () => {
    const page = await demo.open("", { width: 380, height: 800 });
    const box = page.locator(".table-wrap");
    const hint = page.locator("#scroll-hint");
    const region = page.getByRole("region", { name: "Side by side" }).and(box);
    await hint.waitFor();
    expect(await box.getAttribute("data-more")).toBe("end");
    expect(await region.count()).toBe(1);
    await box.focus();
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
    await box.evaluate((element) => element.scrollTo(element.scrollWidth, 0));
    await page.locator('.table-wrap[data-more="start"]').waitFor();
    await page.setViewportSize({ width: 1280, height: 860 });
    await hint.waitFor({ state: "hidden" });
    expect([await box.getAttribute("tabindex"), await box.getAttribute("role")]).toEqual([null, null]);
    await page.close();
  });

  test.each([360, 380])("fits a screen of %i px and shows the source of each way", async (width) => {
    const page = await demo.open("", { width, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const summary = page.locator('details[data-way="clearway"] summary');
    await summary.filter({ hasText: /\d+ lines, loads \d+\.\d KB/ }).click();
    await page.locator('details[data-way="clearway"] pre', { hasText: "export default expose" }).waitFor();
    await page.close();
  });

  test("leads to the README", async () => {
    const page = await demo.open();
    await page.getByRole("link", { name: "Use this in my app" }).click();
    expect(await page.locator("body").innerText()).toContain("npm install");
    await page.close();
  });

  test("leads to the remote control", async () => {
    const page = await demo.open();
    await page.getByRole("link", { name: "remote control" }).click();
    await page.locator('#state[data-state="connected"]').waitFor();
    await page.close();
  });

  test("refuses a chunk whose CRC-32 is wrong", async () => {
    const send = (crc32: string) =>
      fetch(`${demo.url}upload`, { method: "POST", body: "123456789", headers: { "x-crc32": crc32 } });
    // 0xcbf43926 is the published check value of this CRC-32 for these nine digits.
    expect((await send("cbf43926")).status).toBe(200);
    expect((await send("cbf43927")).status).toBe(422);
  });

  test("stops on SIGINT", async () => {
    expect(await demo.stop()).toEqual([0, null]);
  });
});

declare global {
  /** Draws a frame of the page at each of these times. */
  var drive: (...timesMs: number[]) => void;
}

/** Replaces the page's frames with frames that the test draws. Runs in the page, before the page's scripts. */
function driveFrames(): void {
  const waiting: FrameRequestCallback[] = [];
  globalThis.requestAnimationFrame = (callback) => waiting.push(callback);
  performance.now = () => 0;
  globalThis.drive = (...timesMs) => {
    for (const nowMs of timesMs) for (const callback of waiting.splice(0)) callback(nowMs);
  };
}

/** Presses a button, waits for the result in the table, and returns the result. */
async function press(page: Page, job: (typeof jobs)[number], way: (typeof ways)[number]): Promise<Run> {
  const row = page.locator(`tr[data-job="${job}"][data-way="${way}"]`);
  const before = Number((await row.getAttribute("data-runs")) ?? 0);
  await page.locator(`#${job} button[data-way="${way}"]`).click();
  await page.locator(`tr[data-job="${job}"][data-way="${way}"][data-runs="${before + 1}"]`).waitFor();
  const value = async (metric: string) =>
    Number(await row.locator(`[data-metric="${metric}"]`).getAttribute("data-value"));
  return {
    longestStallMs: await value("longestStallMs"),
    droppedFrames: await value("droppedFrames"),
    outcome: await page.locator(`#${job} .outcome`).innerText(),
  };
}
