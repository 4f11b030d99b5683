// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumFlags, chromiumPath } from "../../../../scripts/chromium.mjs";
import type * as Meter from "../../src/meter.js";

declare const meter: typeof Meter;
declare const busy: (ms: number) => void;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const script = `import * as meter from "/meter.js"; globalThis.meter = meter;
  globalThis.busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };`;
let server: Server;
let browser: Browser;

beforeAll(async () => {
  const bundle = await build({
    entryPoints: [here("../../src/meter.ts")],
    write: false,
    bundle: true,
    format: "esm",
    // Minified as hard as a user's bundler may minify code that is sent to a worker as source text.
    keepNames: true,
    minify: true,
    alias: { "#meter-host": here("../../src/meter/host/browser.ts") },
    define: { hasProcesses: "false" },
  });
  server = createServer((request, response) => {
    if (request.url === "/meter.js") {
      response.setHeader("content-type", "text/javascript").end(bundle.outputFiles[0]!.contents);
      return;
    }
    if (request.url === "/strict")
      response.setHeader("content-security-policy", "script-src 'self' 'unsafe-inline'; worker-src 'none'");
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><title>m</title><script type=module>${script}</script>`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
});
afterAll(async () => {
  await browser?.close();
  server?.close();
});

const open = async (path: string): Promise<Page> => {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
  await page.waitForFunction(() => "meter" in globalThis);
  return page;
};

describe("a top-level page", () => {
  it("reports the script that ran in a long stall", async () => {
    const page = await open("/");
    // Repeats until the script is named: the browser of a busy machine may tell of a long frame after the report.
    const { longest, missing } = await page.evaluate(async () => {
      for (;;) {
        const { report } = await meter.measure(
          () =>
            new Promise<void>((resolve) => {
              setTimeout(() => {
                busy(120);
                resolve();
              }, 30);
            }),
        );
        const longest = report.stalls.reduce((most, each) => (each.lengthMs > most.lengthMs ? each : most));
        const missing = report.sources.filter((source) => !source.available).map((source) => source.name);
        if (longest.scripts[0]?.invoker === "TimerHandler:setTimeout") return { longest, missing };
      }
    });
    expect(longest.scripts[0]!.durationMs).toBeGreaterThanOrEqual(119);
    // When the machine itself was stalled, that cause comes first.
    expect(["app", "machine"]).toContain(longest.cause);
    expect(missing).toEqual(["garbage collection"]);
    await page.close();
  });

  it("reports why its worker is missing, and its long stalls, under a policy that forbids workers", async () => {
    const page = await open("/strict");
    // Repeats until the whole stall is reported, from the browser's own record of long frames, which a busy machine may delay.
    const sources = await page.evaluate(async () => {
      for (;;) {
        const { report } = await meter.measure(async () => {
          await new Promise((resolve) => setTimeout(resolve, 40));
          busy(120);
          await new Promise((resolve) => setTimeout(resolve, 40));
        });
        if (report.longestMs >= 119) return report.sources;
      }
    });
    expect(sources.find((source) => source.name === "watcher")).toMatchObject({ available: false });
    expect(sources.find((source) => source.name === "heartbeat")!.why).toContain("stalls under 20 ms");
    await page.close();
  });
});
