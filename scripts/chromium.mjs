// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds Chromium, for the lab, tests and checks.
import { existsSync } from "node:fs";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Returns the path of a Chromium, or undefined. If CLEARWAY_CHROMIUM is set, only that path counts. */
export function findChromium() {
  const given = process.env.CLEARWAY_CHROMIUM;
  return (given ? [given] : places).find(existsSync);
}

/** Returns why there is no Chromium, and the remedy. */
export function chromiumMissing() {
  const given = process.env.CLEARWAY_CHROMIUM;
  return given
    ? `CLEARWAY_CHROMIUM names a file that does not exist: ${given}. Set it to the path of a Chromium, or unset it`
    : "no Chromium found: install it (Debian: apt-get install chromium) or set CLEARWAY_CHROMIUM to its path";
}

/** Returns the path of a Chromium. Throws if there is none. */
export function chromiumPath() {
  const path = findChromium();
  if (path === undefined) throw new Error(chromiumMissing());
  return path;
}

/** Flags, besides `--headless`, for a browser that shows no dialogs and needs no screen. */
export const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
