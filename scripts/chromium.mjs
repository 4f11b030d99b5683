// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser that tests and checks drive. The lab, which people install by itself, finds its own in the same places.
import { existsSync } from "node:fs";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The path of a Chromium. CLEARWAY_CHROMIUM goes before all others. Throws when there is none. */
export function chromiumPath() {
  const given = process.env.CLEARWAY_CHROMIUM;
  const path = given ? [given].find(existsSync) : places.find(existsSync);
  if (path === undefined) {
    throw new Error(
      given
        ? `CLEARWAY_CHROMIUM names no file: ${given}`
        : "no Chromium found; add it with: make setup, or set CLEARWAY_CHROMIUM to its path",
    );
  }
  return path;
}

/** Flags for a browser that asks nobody and draws without a screen, `--headless` apart. */
export const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
