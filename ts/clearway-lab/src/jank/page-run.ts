// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a page once, from its navigation to some time after its last step.

import { readFileSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sendFile, serveLocally, typeOf } from "../../../../scripts/local-server.mjs";
import type { BrowserName } from "../browser/open.js";
import { openBrowser } from "./browser-session.js";
import { openDriven, preludeOf } from "./driven-session.js";
import { bounded } from "./message.js";
import { pageRun } from "./page-result.js";
import type { End, Run } from "./record.js";
import { firstLine, type PageSession, type Settings } from "./session.js";
import { invalidSelectors, performSteps, type Step, StepError, type StepStart } from "./steps.js";
import type { Target } from "./target.js";

export interface PageOptions extends Settings {
  readonly browser: BrowserName;
  readonly target: Extract<Target, { kind: "url" | "page" }>;
  readonly steps: readonly Step[];
  /** How long the page is observed after its last step, in milliseconds. */
  readonly tailMs: number;
  /** The limit of the whole run, in milliseconds. */
  readonly timeoutMs: number;
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
  readonly opened?: (session: PageSession) => void;
}

/** Measures once. Throws `RangeError` for a selector that the browser refuses, and `CannotMeasure` without a browser. */
export async function measurePage(options: PageOptions, parts: PageParts = {}): Promise<{ run: Run; runtime: string }> {
  const { target, browser } = options;
  const script = parts.script ?? (await readFile(fileURLToPath(new URL("./page/jank.js", import.meta.url)), "utf8"));
  const prelude = browser === "webkit" ? preludeOf(script, options.floorMs) : undefined;
  const server = target.kind === "page" ? await serveFolder(target.file, prelude) : undefined;
  try {
    const session = await (browser === "chromium"
      ? openBrowser(options, script)
      : openDriven(browser, options, script));
    try {
      parts.opened?.(session);
      const invalid = await invalidSelectors(session, options.steps);
      if (invalid.length > 0)
        throw new RangeError(`not a CSS selector: ${invalid.map((each) => JSON.stringify(each)).join(", ")}`);
      const notes: string[] = [];
      const starts: StepStart[] = [];
      const end = await drive(session, server?.url ?? (target as { url: string }).url, options, starts);
      const endedMs = Date.now();
      const isSilent = end.outcome === "timeout" || end.outcome === "interrupted" || end.outcome === "failed";
      if (isSilent) notes.push(...(await insist(session)));
      notes.push(...session.notes());
      const trace = await session.trace?.();
      if (trace?.complete === false) notes.push("the browser's trace is incomplete: some stalls may lack a cause");
      const run = await pageRun({
        ...{ end, endedMs },
        documents: session.log.documents,
        starts,
        ...{ events: trace?.events ?? [], isTraced: trace !== undefined },
        ...(isSilent && session.answeredMs !== undefined && { silentMs: [session.answeredMs, Date.now()] }),
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
async function drive(session: PageSession, url: string, options: PageOptions, starts: StepStart[]): Promise<End> {
  let doing = "loading";
  const act = async (): Promise<End> => {
    const failed = await session.load(url);
    if (failed !== undefined) return { outcome: "failed", message: failed };
    await performSteps(session, options.steps, {
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
    await session.report();
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
    session.onEnd((outcome, what) => resolve({ outcome, message: `${what} during ${doing}` }));
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
  }
}

function timeoutMessage(doing: string, timeoutMs: number): string {
  return `the limit of ${timeoutMs / 1000} s was reached during ${doing}. Raise it with --timeout`;
}

/** Asks a page that may not answer for its report. Stops its code if it does not. Returns what a reader must know. */
async function insist(session: PageSession): Promise<string[]> {
  if (session.log.documents.length === 0 || (await bounded(session.report(), ANSWER_MS_MAX))) return [];
  if (session.terminate === undefined) return ["the page did not answer: its last stall would have been longer"];
  await bounded(session.terminate(), ANSWER_MS_MAX);
  // The page must answer heartbeats and show a frame before the meter and the browser tell of the stall that has just ended.
  await sleep(SETTLE_MS * 2);
  return (await bounded(session.report(), STOPPED_MS_MAX))
    ? ["the page did not answer, so its code was stopped: its last stall would have been longer"]
    : ["the page did not answer, even after its code was stopped"];
}

// Serves a local page and the files below its folder, on 127.0.0.1 only and only while a run lasts.

export interface FolderServer {
  /** The address of the page. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the folder of `file`. Files above that folder, hidden files and links that lead out of it are refused. `prelude` is a script that
 * the page gets before its own.
 */
export async function serveFolder(file: string, prelude?: string): Promise<FolderServer> {
  const root = realpathSync(path.dirname(file));
  const name = path.basename(file);
  const server = await serveLocally((asked, response) => {
    const headers = { "cache-control": "no-store" };
    if (prelude === undefined || asked.path !== `/${name}`) return sendFile(root, asked.path, response, headers);
    const [doctype = ""] = /^\s*<!doctype[^>]*>/i.exec(readFileSync(file, "utf8")) ?? [];
    const html = `${doctype}<script>${prelude}</script>${readFileSync(file, "utf8").slice(doctype.length)}`;
    response.writeHead(200, { ...headers, "content-type": typeOf(file) }).end(html);
  });
  return { url: server.url + encodeURIComponent(name), close: server.close };
}
