// SPDX-License-Identifier: MIT OR Apache-2.0
// Chromium for one run, with a trace.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, CDPSession, Page } from "playwright-core";
import { launchChromium } from "../browser/open.js";
import { TOOL_URL } from "./cause.js";
import { DocumentLog } from "./document-log.js";
import { BINDING, FLOOR, HANDLE_SOURCE } from "./message.js";
import { firstLine, type PageSession, type Settings } from "./session.js";
import { StepError } from "./steps.js";
import { CannotMeasure } from "./target.js";
import { TRACE_CATEGORIES, type TraceEvent } from "./trace.js";

export interface BrowserSession extends PageSession {
  readonly page: Page;
  /** A session with the page's target. It goes on when the page moves to another process. */
  readonly cdp: CDPSession;
}

/** The size of the window that most tests of pages use. */
const VIEWPORT = { width: 1280, height: 800 };
/** Some versions of Chromium load their own pages for about this time after the start, which would take a core. In milliseconds. */
const QUIET_MS = 500;
/** An hour's samples. Beyond this number, the rest of the trace is dropped. */
const EVENTS_MAX = 2_000_000;
const TRACE_MS_MAX = 15_000;

/** Starts Chromium with an empty page. `script` runs in each document before the page's own scripts. */
export async function openBrowser(settings: Settings, script: string): Promise<BrowserSession> {
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
  const notes = observe(page);
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
  const evaluate: PageSession["evaluate"] = (source, ...values) => evaluateIn(cdp, source, values);
  return {
    ...{ page, cdp, log, loaded, notes, evaluate },
    version: `Chromium ${browser.version()}`,
    load: (url) => load(page, url),
    report: () => evaluate(`() => { ${HANDLE_SOURCE}?.report(); return ${HANDLE_SOURCE} !== undefined; }`),
    click: (x, y) => page.mouse.click(x, y),
    type: (text) => page.keyboard.type(text),
    wheel: async (pixels) => {
      await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2);
      await page.mouse.wheel(0, pixels);
    },
    onEnd: (listener) => {
      page.once("crash", () => listener("crashed", "the page's process crashed, perhaps for lack of memory,"));
      page.once("close", () => listener("closed", "the page closed itself"));
      browser.once("disconnected", () => listener("crashed", "the browser ended"));
    },
    terminate: () => cdp.send("Runtime.terminateExecution"),
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

/** Navigates and waits for the page's load event. Returns what went wrong. */
async function load(page: Page, url: string): Promise<string | undefined> {
  try {
    const response = await page.goto(url, { waitUntil: "load", timeout: 0 });
    if (response !== null && response.status() >= 400)
      return `${url} answered with status ${response.status()}: check the address`;
    return undefined;
  } catch (error) {
    const why = firstLine(error).replace(/^page\.goto: /, "");
    return /ERR_ABORTED|Download is starting/.test(why)
      ? `${url} is not a page: the browser would download it`
      : `${url} cannot be loaded: ${why.replace(/ at https?:.*$/, "")}. Check that its server runs`;
  }
}

/** Answers dialogs, and counts what a reader must know. Returns a function that returns the notes. */
function observe(page: Page): () => string[] {
  const dialogs: string[] = [];
  const errors: string[] = [];
  let popups = 0;
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.type());
    // Leaving the page is accepted, because a step may have asked for it. Everything else is dismissed.
    const answered = dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss();
    answered.catch(() => {});
  });
  page.on("pageerror", (error) => errors.push(firstLine(error)));
  page.on("popup", () => popups++);
  return () => [
    ...(dialogs.length === 0
      ? []
      : [
          `${dialogs.length} ${dialogs.length === 1 ? "dialog was" : "dialogs were"} closed at once (${[...new Set(dialogs)].join(", ")})`,
        ]),
    ...(errors.length === 0
      ? []
      : [`the page threw ${errors.length === 1 ? "an error" : `${errors.length} errors`}: ${errors[0]}`]),
    ...(popups === 0
      ? []
      : [`the page opened ${popups === 1 ? "a window, which was" : `${popups} windows, which were`} not measured`]),
  ];
}

/** Calls a function in the page's top document. The source has an address that distinguishes its samples from the page's own. */
async function evaluateIn<R>(session: CDPSession, source: string, values: readonly unknown[]): Promise<R> {
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: `(${source})(${values.map((value) => JSON.stringify(value)).join(", ")})\n//# sourceURL=${TOOL_URL}step`,
    returnByValue: true,
  });
  if (exceptionDetails !== undefined)
    throw new StepError(
      `the page refused the step: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`,
    );
  return result.value as R;
}
