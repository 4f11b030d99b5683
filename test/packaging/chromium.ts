// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = [
  process.env.CLEARWAY_CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

const quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

/** The machine's Chromium, headless. */
export function launch(): Promise<Browser> {
  const executablePath = places.find((place) => place !== "" && existsSync(place));
  if (!executablePath) throw new Error("no Chromium; add it with: make setup, or set CLEARWAY_CHROMIUM");
  const args = [...quiet, "--disable-component-update", "--disable-sync"];
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args });
}
