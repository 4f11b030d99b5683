// SPDX-License-Identifier: MIT OR Apache-2.0
// A browser for one run: its own process with an empty profile, one page, a trace, and the messages of the meter in the page.
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Browser, CDPSession, Page } from "playwright-core";
import { launchChromium } from "../runner/find.js";
import { TOOL_URL } from "./cause.js";
import { DocumentLog } from "./document-log.js";
import { BINDING, FLOOR } from "./page-message.js";
import { CannotMeasure } from "./target.js";
import { TRACE_CATEGORIES, type TraceEvent } from "./trace.js";

export interface BrowserSession {
  readonly page: Page;
  /** A session with the page's target. It goes on when the page moves to another process. */
  readonly cdp: CDPSession;
  readonly log: DocumentLog;
  /** The addresses of the scripts and documents that the page loaded. */
  readonly loaded: ReadonlySet<string>;
  readonly version: string;
  /** Ends the trace and returns its events. Returns what has come if the browser does not answer. */
  trace(): Promise<{ events: readonly TraceEvent[]; complete: boolean }>;
  close(): Promise<void>;
}

/** The size of the window that most tests of pages use. */
const VIEWPORT = { width: 1280, height: 800 };
/** Some versions of Chromium load their own pages for about this time after the start, which would take a core. In milliseconds. */
const QUIET_MS = 500;
/** An hour's samples. Beyond this number, the rest of the trace is dropped. */
const EVENTS_MAX = 2_000_000;
const TRACE_MS_MAX = 15_000;

export interface Settings {
  readonly bypassCsp: boolean;
  /** The meter's floor, in milliseconds. */
  readonly floorMs: number;
}

/** Starts a browser with an empty page. `given` replaces the built script that runs in the page. */
export async function openBrowser(settings: Settings, given?: string): Promise<BrowserSession> {
  const script = given ?? (await readFile(fileURLToPath(new URL("./page/jank.js", import.meta.url)), "utf8"));
  let browser: Browser;
  try {
    browser = await launchChromium({ handleSIGTERM: false, handleSIGHUP: false });
  } catch (error) {
    throw new CannotMeasure((error as Error).message);
  }
  try {
    return await prepare(browser, script, settings);
  } catch (error) {
    await browser.close();
    throw error;
  }
}

async function prepare(
  browser: Browser,
  script: string,
  { bypassCsp: bypassCSP, floorMs }: Settings,
): Promise<BrowserSession> {
  const context = await browser.newContext({ viewport: VIEWPORT, acceptDownloads: false, bypassCSP });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  const log = new DocumentLog(() => performance.now());
  cdp.on("Runtime.bindingCalled", ({ name, payload }) => {
    if (name === BINDING) log.receive(payload);
  });
  await cdp.send("Runtime.enable");
  await cdp.send("Runtime.addBinding", { name: BINDING });
  await page.addInitScript({ content: `globalThis.${FLOOR}=${floorMs};${script}\n//# sourceURL=${TOOL_URL}meter` });
  const loaded = new Set<string>();
  page.on("request", (request) => {
    if (request.resourceType() === "script" || request.resourceType() === "document") loaded.add(request.url());
  });
  await sleep(QUIET_MS);
  const root = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  root.on("Tracing.dataCollected", ({ value }) => {
    if (events.length < EVENTS_MAX) events.push(...(value as unknown as TraceEvent[]));
  });
  await root.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { recordMode: "recordUntilFull", includedCategories: TRACE_CATEGORIES, excludedCategories: ["*"] },
  });
  return {
    page,
    cdp,
    log,
    loaded,
    version: `Chromium ${browser.version()}`,
    trace: async () => {
      const complete = new Promise<boolean>((resolve) =>
        root.once("Tracing.tracingComplete", ({ dataLossOccurred }) => resolve(!dataLossOccurred)),
      );
      const gone = new Promise<boolean>((resolve) => browser.once("disconnected", () => resolve(false)));
      try {
        await Promise.race([root.send("Tracing.end"), gone]);
        const late = sleep(TRACE_MS_MAX, false, { ref: false });
        return { events, complete: (await Promise.race([complete, gone, late])) && events.length < EVENTS_MAX };
      } catch {
        // The browser is gone. What came before is still of use.
        return { events, complete: false };
      }
    },
    close: () => browser.close(),
  };
}
