// SPDX-License-Identifier: MIT OR Apache-2.0
// The live part of the site: the same job on this thread and in a pool with the meter on, and the speed of the reader's device.
import { pool } from "clearway";
import { deviceFactor, measure, type StallReport } from "clearway/meter";
import type tasks from "./try.tasks.js";
import { countPrimes } from "./try.tasks.js";

const limit = 2_000_000;
const element = (id: string): HTMLElement => document.getElementById(id)!;
const shown = (ms: number): string => (ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString("en"));

// The dot moves once a frame. It stops while the main thread is blocked.
const dot = element("dot");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const move = (now: number): void => {
  const share = still.matches ? 0.5 : (Math.sin(now / 600) + 1) / 2;
  dot.style.left = `calc(${share} * (100% - 1.5rem))`;
  requestAnimationFrame(move);
};
requestAnimationFrame(move);

const work = pool<typeof tasks>(() => new Worker(new URL("./try.tasks.js", import.meta.url), { type: "module" }), {
  size: 1,
});

async function show(row: string, run: () => number | Promise<number>): Promise<void> {
  const { value, report }: { value: number; report: StallReport } = await measure(run);
  element(`${row}-stall`).textContent = `${shown(report.ownLongestMs)} ms`;
  element(`${row}-result`).textContent = value.toLocaleString("en");
}

/** Disables the buttons while `run` runs, and says on the page what went wrong. */
async function busy(run: () => Promise<void>): Promise<void> {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("#try button")];
  for (const button of buttons) button.disabled = true;
  const status = element("status");
  status.textContent = "Running …";
  try {
    await run();
    status.textContent = "Done.";
  } catch (error) {
    status.textContent = `It failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  for (const button of buttons) button.disabled = false;
}

const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

element("run-main").addEventListener("click", () =>
  busy(async () => {
    await frame();
    await show("main", () => countPrimes(limit));
  }),
);
element("run-pool").addEventListener("click", () =>
  busy(async () => {
    await work.ready();
    await show("pool", () => work.call.countPrimes(limit));
  }),
);

element("run-device").addEventListener("click", () =>
  busy(async () => {
    const { factor, medianMs, p25Ms, p75Ms, referenceMs } = await deviceFactor();
    element("device").textContent =
      `This device takes ${factor.toFixed(2)} times as long as the reference: ${shown(medianMs)} ms for the task (half of the runs ` +
      `${shown(p25Ms)} to ${shown(p75Ms)} ms), where the reference takes ${referenceMs} ms. Work of 5 ms there takes ${shown(5 * factor)} ms here.`;
  }),
);

element("isolation").textContent =
  typeof SharedArrayBuffer === "function"
    ? "This page is cross-origin isolated: small calls go through shared memory, and a task sees at once that it was cancelled."
    : "This page has no shared memory: it is not cross-origin isolated, as most pages are not, or this browser has none. Everything here works without it. With it, small calls would go " +
      "through shared memory, which takes microseconds, and a task that blocks its worker would see at once that it was cancelled.";
element("try").hidden = false;
