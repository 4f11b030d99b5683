// SPDX-License-Identifier: MIT OR Apache-2.0
// The Chromium runner. It uses one browser for the run. Every measurement gets a new context with its own renderer process.
import type { Browser, Page } from "playwright-core";
import type { LocalServer } from "../../../../scripts/local-server.mjs";
import type { Measured } from "../protocol/measured.js";
import { type CellRequest, PROTOCOL_VERSION } from "../protocol/message.js";
import { serve } from "../protocol/serve.js";
import { toMeasurement } from "./convert.js";
import { launchChromium } from "./find.js";
import type { LabPage } from "./page.js";
import { servePage } from "./page-server.js";

process.on("SIGINT", () => {});

interface Running {
  browser: Browser;
  server: LocalServer;
}

let starting: Promise<Running> | undefined;

async function start(): Promise<Running> {
  const [browser, server] = await Promise.all([launchChromium(), servePage()]);
  return { browser, server };
}

async function inPage<T>(use: (page: Page) => Promise<T>): Promise<T> {
  starting ??= start();
  const { browser, server } = await starting;
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
  try {
    const page = await context.newPage();
    await page.goto(server.url);
    await page.waitForFunction("globalThis.lab !== undefined", undefined, { polling: 10 });
    return await use(page);
  } finally {
    await context.close();
  }
}

async function run(cell: CellRequest) {
  // The cell is passed as text, because playwright computes an infinite type for a recursive JSON type.
  const measured = await inPage((page) =>
    page.evaluate(
      (text: string): Promise<unknown> => (globalThis as unknown as { lab: LabPage }).lab.measure(JSON.parse(text)),
      JSON.stringify(cell),
    ),
  );
  return toMeasurement(measured as Measured, cell);
}

await serve({
  describe: async () => {
    const facts = await inPage((page) =>
      page.evaluate(() => (globalThis as unknown as { lab: LabPage }).lab.describe()),
    );
    const { browser } = await starting!;
    return {
      protocol: PROTOCOL_VERSION,
      host: "chromium",
      runtime: "Chromium " + browser.version(),
      fresh: "renderer process",
      ...facts,
    };
  },
  verify: async (cell) => ({ verified: true, result: (await run(cell)).result }),
  measure: run,
  probe: async ({ name }) => {
    throw new RangeError(`this host has no probes: probe=${name}`);
  },
  close: async () => {
    if (starting === undefined) return;
    const { browser, server } = await starting;
    await browser.close();
    await server.close();
  },
});
process.exit(0);
