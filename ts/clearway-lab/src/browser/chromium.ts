// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts Chromium.
import type { Browser, LaunchOptions } from "playwright-core";
import { chromiumFlags, chromiumMissing, findChromium } from "../../../../scripts/chromium.mjs";
import { packagesMissing } from "../machine/optional-packages.js";

/** Returns why no page can be opened here, and the remedy. Undefined if pages can be opened. */
export function chromiumProblem(): string | undefined {
  return findChromium() === undefined ? chromiumMissing() : packagesMissing(["playwright-core"]);
}

/** Starts Chromium. The caller closes it. Rejects with an Error that says what to install, or why Chromium does not start. */
export async function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  const problem = chromiumProblem();
  if (problem !== undefined) throw new Error(problem);
  const executablePath = findChromium() as string;
  // Loaded here, because it takes a tenth of a second, and only pages need it.
  const { chromium } = await import("playwright-core");
  try {
    return await chromium.launch({
      executablePath,
      args: ["--headless", ...chromiumFlags],
      handleSIGINT: false,
      ...options,
    });
  } catch (error) {
    const why = (error as Error).message.split("\n")[0];
    throw new Error(`Chromium does not start: ${executablePath}: ${why}. Set CLEARWAY_CHROMIUM to another one`);
  }
}
