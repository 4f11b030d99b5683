// SPDX-License-Identifier: MIT OR Apache-2.0
// The runner for a browser: the one that CLEARWAY_LAB_HOST names. Every measurement gets a new page in a process of its own.
import type { LocalServer } from "../../../../scripts/local-server.mjs";
import { type BrowserName, type PageBrowser, startBrowser } from "../browser/open.js";
import { serve } from "../protocol/lines.js";
import type { Measured } from "../protocol/measured.js";
import { type CellRequest, PROTOCOL_VERSION } from "../protocol/message.js";
import { toMeasurement } from "./convert.js";
import type { LabPage } from "./page.js";
import { servePage } from "./page-server.js";

process.on("SIGINT", () => {});

// What ends this process must end its browsers. Playwright does that for Chromium.
process.on("SIGTERM", () => process.exit(143));

const host = process.env["CLEARWAY_LAB_HOST"] as BrowserName;

interface Running {
  browser: PageBrowser;
  server: LocalServer;
}

let starting: Promise<Running> | undefined;

async function start(): Promise<Running> {
  const [browser, server] = await Promise.all([startBrowser(host), servePage()]);
  return { browser, server };
}

/** Calls a function in a new page. The argument and the result cross as text. */
async function inPage(act: (text: string) => Promise<string>, text: string): Promise<unknown> {
  starting ??= start();
  const { browser, server } = await starting;
  const page = await browser.open(server.url, "lab");
  try {
    return JSON.parse(await page.evaluate(act, text));
  } finally {
    await page.close();
  }
}

async function run(cell: CellRequest) {
  const measured = await inPage(
    async (text) =>
      JSON.stringify(await (globalThis as unknown as { lab: LabPage }).lab.measure(JSON.parse(text) as CellRequest)),
    JSON.stringify(cell),
  );
  return toMeasurement(measured as Measured, cell);
}

await serve({
  describe: async () => {
    const facts = await inPage(
      async () => JSON.stringify(await (globalThis as unknown as { lab: LabPage }).lab.describe()),
      "",
    );
    const { browser } = await starting!;
    return {
      protocol: PROTOCOL_VERSION,
      host,
      runtime: browser.version as string,
      fresh: host === "chromium" ? "renderer process" : "process",
      ...(facts as Awaited<ReturnType<LabPage["describe"]>>),
    };
  },
  verify: async (cell) => ({ verified: true, result: (await run(cell)).result }),
  measure: run,
  close: async () => {
    if (starting === undefined) return;
    const { browser, server } = await starting;
    await browser.close();
    await server.close();
  },
});
process.exit(0);
