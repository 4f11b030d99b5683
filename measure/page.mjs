// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens an example's page in a separate Chromium. A separate process serves the page.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumFlags, chromiumPath } from "../scripts/chromium.mjs";

const limitMs = 180_000;

/** Starts the example's server `serve`, opens its page with `query` and calls `use` with the page. Then ends server and browser. */
export async function withPage(serve, query, { flags = [], viewport = { width: 1280, height: 860 } }, use) {
  const server = spawn(process.execPath, [fileURLToPath(serve), "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let browser;
  try {
    const url = await addressOf(server);
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumFlags, ...flags] });
    const page = await browser.newPage({ viewport });
    page.setDefaultTimeout(limitMs);
    await page.goto(`${url}${query}`);
    return await use(page);
  } finally {
    await browser?.close();
    server.kill("SIGKILL");
  }
}

async function addressOf(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(line);
    if (found) return found[0];
  }
  throw new Error("the example's server ended and named no address");
}
