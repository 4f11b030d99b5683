// SPDX-License-Identifier: MIT OR Apache-2.0
// Presses the demo's buttons in a real Chromium and reads its table. `make measure` compares the implementations ("ways").
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patienceMs, Shown } from "../shown.js";

const jobs = ["students", "photo", "upload"] as const;
const ways = ["main-thread", "by-hand", "comlink", "clearway"] as const;

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
  test("does every job in every way without isolation, and shows what the meter said of each", {
    timeout: patienceMs,
  }, async () => {
    const page = await demo.open();
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(false);
    for (const job of jobs) {
      for (const way of ways) {
        const { longestStallMs, droppedFrames } = await press(page, job, way);
        expect(longestStallMs, `${job}, ${way}`).toBeGreaterThanOrEqual(0);
        expect(Number.isInteger(droppedFrames), `${job}, ${way}`).toBe(true);
      }
    }
    await page.close();
  });

  test("does every job in every way when it is cross-origin isolated", { timeout: patienceMs }, async () => {
    const page = await demo.open("?isolated");
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true);
    for (const way of ways) {
      expect((await press(page, "students", way)).outcome).toMatch(/^1,000,000 rows, from 1 Asha Adeyemi to 1000000 /);
      await press(page, "photo", way);
      expect(await page.getByRole("img", { name: /^Preview: mountains/ }).isVisible()).toBe(true);
      expect((await press(page, "upload", way)).outcome).toBe("192 MB arrived in 6 chunks, each checked");
    }
    await page.close();
  });

  test("gives all ways the same picture", { timeout: patienceMs }, async () => {
    const page = await demo.open();
    const pictures = new Set<string>();
    for (const way of ways) {
      await press(page, "photo", way);
      pictures.add(await page.locator("#photo canvas").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL()));
    }
    expect(pictures.size).toBe(1);
    await page.close();
  });

  test("fits a narrow screen and shows the source of each way", async () => {
    const page = await demo.open("", { width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.locator('details[data-way="clearway"] summary').click();
    await page.locator('details[data-way="clearway"] pre', { hasText: "export default expose" }).waitFor();
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
