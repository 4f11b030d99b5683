// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a page of ./pages, or one that a test wrote into `folder` or serves, in Chromium or another browser.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";
import type { BrowserSession } from "../../src/jank/browser-session.js";
import { measurePage, type PageOptions } from "../../src/jank/page-run.js";
import type { Run } from "../../src/jank/record.js";
import { parseClick, parseScroll, parseType, parseWait } from "../../src/jank/steps.js";
import { parseTarget } from "../../src/jank/target.js";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const pages = here("./pages/");
let script: string;
export let folder: string;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [here("../../src/jank/in-page.ts")],
    bundle: true,
    write: false,
    format: "iife",
    conditions: ["browser"],
    alias: {
      "clearway/meter": here("../../../clearway/src/meter.ts"),
      "#meter-host": here("../../../clearway/src/meter/host/browser.ts"),
    },
    define: { hasProcesses: "false" },
  });
  script = outputFiles[0]!.text;
  folder = mkdtempSync(path.join(tmpdir(), "clearway-jank-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Steps that `steps.html` needs in this order: its link then leads to `stepped.html`, which has the element that the last one waits for. */
export const STEPS = [
  parseType("#name=tea"),
  parseScroll("600"),
  parseWait(".scrolled"),
  parseClick("#next"),
  parseWait("#there"),
];

/** Writes a page with this script. Returns its path. */
export function pageOf(name: string, script: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, `<!doctype html><title>p</title><body><script>${script}</script></body>`);
  return file;
}

/** Calls `use` with the address of a server that answers like this. */
export async function served<T>(answer: http.RequestListener, use: (address: string) => Promise<T>): Promise<T> {
  const server = http.createServer(answer);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

export async function measure(
  name: string,
  options: Partial<PageOptions> = {},
  opened?: (session: BrowserSession) => void,
): Promise<Run> {
  const target = parseTarget(/^(http|\/)/.test(name) ? name : pages + name) as PageOptions["target"];
  const all = {
    browser: "chromium" as const,
    steps: [],
    tailMs: 300,
    timeoutMs: 60_000,
    bypassCsp: false,
    floorMs: 4,
    signal: new AbortController().signal,
  };
  const { run } = await measurePage(
    { ...all, ...options, target },
    {
      script,
      ...(opened && { opened: (session) => opened(session as BrowserSession) }),
    },
  );
  return run;
}
