// SPDX-License-Identifier: MIT OR Apache-2.0
// Controls the page in a real Chromium, with delay and loss added to the network. Compares times only with the added delay, which is a
// lower bound on every machine.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Shown } from "../shown.js";

const rows = ["whole", "network", "queue", "native", "paint", "ping"] as const;
type Row = (typeof rows)[number];

let remote: Shown;

beforeAll(async () => {
  remote = await Shown.by(new URL("./serve.mjs", import.meta.url));
});

afterAll(() => remote?.[Symbol.asyncDispose]());

describe("the remote control", () => {
  test("shows at least the delay that was added to the network, in every row that crosses it", async () => {
    const page = await open();
    const before = await measure(page, 24);
    await weather(page, "delayMs", "60");
    const after = await measure(page, 24);
    await page.close();
    console.log(rows.map((row) => `${row} ${before[row].toFixed(1)} -> ${after[row].toFixed(1)} ms`).join(", "));
    // The delay applies to both directions. Each of the two timers may be early by 1 ms.
    for (const row of ["ping", "network", "whole"] as const) expect(after[row]).toBeGreaterThanOrEqual(2 * 59);
    for (const each of [before, after]) {
      expect(each.native).toBeGreaterThan(0);
      expect(each.paint).toBeGreaterThan(0);
    }
  });

  test("drops frames that would come late and never a command, where little fits through and segments are lost", async () => {
    const page = await open();
    await weather(page, "bytesPerSecond", "5000000");
    await weather(page, "lossRate", "0.02");
    // Repeats until a frame is dropped. The time until frames pile up depends on how fast this machine draws them.
    const dropped = async () => Number(await page.locator("#frames").getAttribute("data-dropped"));
    do await point(page, 120);
    while ((await dropped()) === 0);
    await weather(page, "bytesPerSecond", "0");
    await weather(page, "lossRate", "0");
    // A browser merges the moves within one of its frames into one command.
    await expect.poll(() => commandsOf(page)).toMatchObject({ left: 0 });
    expect((await commandsOf(page)).sent).toBeGreaterThan(0);
    await page.close();
  });

  test("has its screen, its controls and its meter in view at 1280 x 900", async () => {
    const page = await open({ width: 1280, height: 900 });
    for (const id of ["screen", "weather", "chart", "figures", "commands"]) {
      const { y, height } = (await page.locator(`#${id}`).boundingBox())!;
      expect(y + height, id).toBeLessThanOrEqual(900);
    }
    await page.close();
  });

  test.each([1280, 1000, 700, 380, 360])(
    "has equal groups of controls at %i px, and no sideways scrolling",
    async (width) => {
      const page = await open({ width, height: 900 });
      const groups = await page.locator("#weather fieldset").evaluateAll((all) =>
        all.map((each) => {
          const { left, top, width } = each.getBoundingClientRect();
          return { left, top, width };
        }),
      );
      expect(groups).toHaveLength(3);
      const [columns, rows] = [new Set(groups.map(({ left }) => left)), new Set(groups.map(({ top }) => top))];
      expect([columns.size, rows.size]).toEqual(width < 640 ? [1, 3] : [3, 1]);
      for (const group of groups) expect(group.width).toBeCloseTo(groups[0]!.width, 1);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const table = page.locator(".table-wrap");
      expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
      await page.close();
    },
  );

  test("begins all figures again when the button is pressed", async () => {
    const page = await open();
    await measure(page, 1);
    // Reads the figures before the browser can deliver the next frame.
    const figures = await page.evaluate(() => {
      document.querySelector<HTMLElement>("#reset")!.click();
      const { made, dropped, shown } = document.querySelector<HTMLElement>("#frames")!.dataset;
      const whole = document.querySelector<HTMLElement>('tr[data-row="whole"]')!;
      return { made, dropped, shown, count: whole.dataset["count"], p99: whole.lastElementChild!.textContent };
    });
    expect(figures).toEqual({
      made: "0",
      dropped: "0",
      shown: "0",
      count: "0",
      p99: "after 1,000 values\n(0 so far)",
    });
    await page.close();
  });

  test("says when the connection has ended", async () => {
    const page = await open();
    const exit = await remote.stop();
    await page.locator('#state[data-state="lost"]').waitFor();
    expect(await page.locator("#state").innerText()).toContain("Reload");
    expect(exit).toEqual([0, null]);
    await page.close();
  });
});

async function open(viewport = { width: 1000, height: 1000 }): Promise<Page> {
  // The screen is small, so that the test needs little memory.
  const page = await remote.open("?width=320&height=180&rate=30", viewport);
  await page.locator('#state[data-state="connected"]').waitFor();
  return page;
}

async function weather(page: Page, name: string, value: string): Promise<void> {
  const form = page.locator("#weather");
  const before = Number((await form.getAttribute("data-set")) ?? 0);
  await page.locator(`input[name=${name}][value="${value}"]`).check();
  await page.locator(`#weather[data-set="${before + 1}"]`).waitFor();
}

/** Moves the pointer over the screen, in `times` steps. */
async function point(page: Page, times: number): Promise<void> {
  const box = (await page.locator("#screen").boundingBox())!;
  for (let at = 0; at < times; at++) await page.mouse.move(box.x + 20 + (at % 100) * 3, box.y + 20 + (at % 60) * 3);
}

async function commandsOf(page: Page): Promise<{ sent: number; left: number }> {
  const { sent, shown } = await page.locator("#commands").evaluate((element: HTMLElement) => ({ ...element.dataset }));
  return { sent: Number(sent), left: Number(sent) - Number(shown) };
}

/** Returns medians over at least `least` commands and `least` pings. */
async function measure(page: Page, least: number): Promise<Record<Row, number>> {
  const countOf = async (row: Row) => Number(await page.locator(`tr[data-row="${row}"]`).getAttribute("data-count"));
  while ((await countOf("whole")) < least || (await countOf("ping")) < least) await point(page, 5);
  const values = {} as Record<Row, number>;
  for (const row of rows) {
    const cell = page.locator(`tr[data-row="${row}"] td[data-quantile="p50"]`);
    values[row] = Number(await cell.getAttribute("data-value"));
  }
  return values;
}
