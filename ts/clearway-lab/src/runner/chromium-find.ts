// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds Chromium, and has the flags with which the lab starts it.
import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Returns the path of a Chromium, or undefined. If CLEARWAY_CHROMIUM is set, only that path counts. */
export function findChromium(): string | undefined {
  const given = process.env["CLEARWAY_CHROMIUM"];
  if (given !== undefined && given !== "") return existsSync(given) ? given : undefined;
  return PLACES.find((place) => existsSync(place));
}

/** Returns why there is no Chromium, and the remedy. */
export function chromiumMissing(): string {
  const given = process.env["CLEARWAY_CHROMIUM"];
  if (given !== undefined && given !== "")
    return `CLEARWAY_CHROMIUM names a file that does not exist: ${given}. Set it to the path of a Chromium, or unset it`;
  return "no Chromium found: install it (Debian: apt-get install chromium) or set CLEARWAY_CHROMIUM to its path";
}

export const CHROMIUM_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
