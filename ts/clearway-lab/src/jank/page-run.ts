// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a page once, from its navigation to some time after its last step.

import { realpathSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { sendFile, serveLocally } from "../../../../scripts/local-server.mjs";
import { type BrowserSession, openBrowser } from "./browser-session.js";
import { HANDLE } from "./page-message.js";
import { pageRun } from "./page-result.js";
import { evaluate, invalidSelectors, performSteps, StepError, type StepStart } from "./page-steps.js";
import type { End, Run } from "./record.js";
import type { Step } from "./step.js";
import type { Target } from "./target.js";
import { bounded } from "./told.js";

export interface PageOptions {
  readonly target: Extract<Target, { kind: "url" | "page" }>;
  readonly steps: readonly Step[];
  /** How long the page is observed after its last step, in milliseconds. */
  readonly tailMs: number;
  /** The limit of the whole run, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the page's Content Security Policy is ignored. */
  readonly bypassCsp: boolean;
  /** The meter's floor, in milliseconds. */
  readonly floorMs: number;
  /** Ends the run early. What was measured is kept. */
  readonly signal: AbortSignal;
}

/** How long a page that does not answer is asked for its report, before and after its code is stopped. In milliseconds. */
const ANSWER_MS_MAX = 3_000;
const STOPPED_MS_MAX = 10_000;
/** The browser reports long frames, and the meter its stalls, up to this long after they ended. In milliseconds. */
const SETTLE_MS = 250;

/** Replaces parts of a measurement in tests. */
export interface PageParts {
  /** The script that runs in the page. Default: the built one. */
  readonly script?: string;
  /** Called when the browser is ready, before the page is loaded. */
  readonly opened?: (session: BrowserSession) => void;
}

/** Measures once. Throws `RangeError` for a selector that the browser refuses, and `CannotMeasure` without a browser. */
export async function measurePage(options: PageOptions, parts: PageParts = {}): Promise<{ run: Run; runtime: string }> {
  const { target } = options;
  const server = target.kind === "page" ? await serveFolder(target.file) : undefined;
  try {
    const session = await openBrowser(options, parts.script);
    try {
      parts.opened?.(session);
      const invalid = await invalidSelectors(session.cdp, options.steps);
      if (invalid.length > 0)
        throw new RangeError(`not a CSS selector: ${invalid.map((each) => JSON.stringify(each)).join(", ")}`);
      const notes: string[] = [];
      const starts: StepStart[] = [];
      const end = await drive(session, server?.url ?? (target as { url: string }).url, options, starts, notes);
      if (end.outcome !== "completed" && end.outcome !== "crashed" && end.outcome !== "closed")
        notes.push(...(await insist(session)));
      const trace = await session.trace();
      if (!trace.complete) notes.push("the browser's trace is incomplete: some stalls may lack a cause");
      const run = await pageRun({
        end,
        documents: session.log.documents,
        starts,
        events: trace.events,
        loaded: session.loaded,
        local: target.kind === "page",
        notes,
      });
      return { run, runtime: session.version };
    } finally {
      await session.close();
    }
  } finally {
    await server?.close();
  }
}

/** Loads the page and performs its steps. Settles when they are done, or when something ends the run before. Never rejects. */
async function drive(
  session: BrowserSession,
  url: string,
  options: PageOptions,
  starts: StepStart[],
  notes: string[],
): Promise<End> {
  const { page, cdp } = session;
  const seen = observe(page);
  let doing = "loading";
  const act = async (): Promise<End> => {
    const failed = await load(page, url);
    if (failed !== undefined) return { outcome: "failed", message: failed };
    await performSteps(page, cdp, options.steps, {
      began: (start) => {
        starts.push(start);
        doing = `"${start.step}"`;
      },
      waiting: (step, problem) => {
        doing = `"${step}" (${problem})`;
      },
    });
    doing = "the time after the last step";
    await sleep(Math.max(options.tailMs, SETTLE_MS));
    doing = "the wait for the page's answer at the end";
    await askReport(cdp);
    return { outcome: "completed" };
  };
  let timer: NodeJS.Timeout | undefined;
  const ends = new Promise<End>((resolve) => {
    timer = setTimeout(
      () => resolve({ outcome: "timeout", message: timeoutMessage(doing, options.timeoutMs) }),
      options.timeoutMs,
    );
    const interrupted = (): void => resolve({ outcome: "interrupted", message: `interrupted during ${doing}` });
    if (options.signal.aborted) interrupted();
    options.signal.addEventListener("abort", interrupted, { once: true });
    page.once("crash", () =>
      resolve({
        outcome: "crashed",
        message: `the page's process crashed during ${doing}, perhaps for lack of memory`,
      }),
    );
    page.once("close", () => resolve({ outcome: "closed", message: `the page closed itself during ${doing}` }));
    page
      .context()
      .browser()
      ?.once("disconnected", () => resolve({ outcome: "crashed", message: `the browser ended during ${doing}` }));
  });
  const acted = act().catch(async (error: unknown): Promise<End> => {
    // A crash or a close fails the step as well. Its own event comes a little later and says more.
    await sleep(SETTLE_MS);
    const why = error instanceof StepError ? error.message : `${doing}: ${firstLine(error)}`;
    return { outcome: "failed", message: why };
  });
  try {
    return await Promise.race([acted, ends]);
  } finally {
    clearTimeout(timer);
    notes.push(...seen());
  }
}

function timeoutMessage(doing: string, timeoutMs: number): string {
  return `the limit of ${timeoutMs / 1000} s was reached during ${doing}. Raise it with --timeout`;
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

/** Asks the page for its report. Returns true when it has come, and false if the page is just being replaced by another. */
async function askReport(cdp: CDPSession): Promise<boolean> {
  const handle = `globalThis[Symbol.for(${JSON.stringify(HANDLE)})]`;
  return evaluate(cdp, `() => { ${handle}?.report(); return ${handle} !== undefined; }`);
}

/** Asks a page that may not answer for its report. Stops its code if it does not. Returns what a reader must know. */
async function insist({ cdp, log }: BrowserSession): Promise<string[]> {
  if (log.documents.length === 0 || (await bounded(askReport(cdp), ANSWER_MS_MAX))) return [];
  await bounded(terminate(cdp), ANSWER_MS_MAX);
  // The page must answer heartbeats and show a frame before the meter and the browser tell of the stall that has just ended.
  await sleep(SETTLE_MS * 2);
  return (await bounded(askReport(cdp), STOPPED_MS_MAX))
    ? ["the page did not answer, so its code was stopped: its last stall would have been longer"]
    : ["the page did not answer, even after its code was stopped"];
}

async function terminate(cdp: CDPSession): Promise<true> {
  await cdp.send("Runtime.terminateExecution");
  return true;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n")[0]!.slice(0, 200);
}

// Serves a local page and the files below its folder, on 127.0.0.1 only and only while a run lasts.

export interface FolderServer {
  /** The address of the page. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the folder of `file`. Files above that folder, hidden files and links that lead out of it are refused. */
export async function serveFolder(file: string): Promise<FolderServer> {
  const root = realpathSync(path.dirname(file));
  const server = await serveLocally((asked, response) =>
    sendFile(root, asked.path, response, { "cache-control": "no-store" }),
  );
  return { url: server.url + encodeURIComponent(path.basename(file)), close: server.close };
}
