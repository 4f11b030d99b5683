// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Browser, chromium } from "playwright-core";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";

/** Launches the machine's Chromium, headless. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), headless: true, args: chromiumFlags });
}
