// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the browser for tests and checks. Users install the lab separately, so the lab has its own search in the same places.
import { existsSync } from "node:fs";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Returns the path of a Chromium. If CLEARWAY_CHROMIUM is set, only that path counts. Throws if there is none. */
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
