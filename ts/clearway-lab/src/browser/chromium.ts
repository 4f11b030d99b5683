// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and starts Chromium.
import { existsSync } from "node:fs";
import type { Browser, LaunchOptions } from "playwright-core";
import { packagesMissing } from "../machine/optional-packages.js";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Returns the path of a Chromium, or undefined. If CLEARWAY_CHROMIUM is set, only that path counts. */
export function findChromium(): string | undefined {
  const given = process.env["CLEARWAY_CHROMIUM"];
  if (given !== undefined && given !== "") return existsSync(given) ? given : undefined;
  return PLACES.find((place) => existsSync(place));
}

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
    return await chromium.launch({ executablePath, args: CHROMIUM_FLAGS, handleSIGINT: false, ...options });
  } catch (error) {
    const why = (error as Error).message.split("\n")[0];
    throw new Error(`Chromium does not start: ${executablePath}: ${why}. Set CLEARWAY_CHROMIUM to another one`);
  }
}

function chromiumMissing(): string {
  const given = process.env["CLEARWAY_CHROMIUM"];
  if (given !== undefined && given !== "")
    return `CLEARWAY_CHROMIUM names a file that does not exist: ${given}. Set it to the path of a Chromium, or unset it`;
  return "no Chromium found: install it (Debian: apt-get install chromium) or set CLEARWAY_CHROMIUM to its path";
}

const CHROMIUM_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
