// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens pages in any of the three browsers: Chromium through Playwright, Firefox and WebKitGTK through WebDriver.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, LaunchOptions } from "playwright-core";
import { type Driven, has, missing, open } from "../../../../scripts/browsers/engines.mjs";
import { chromiumFlags, chromiumMissing, findChromium } from "../../../../scripts/chromium.mjs";
import { packagesMissing } from "../machine/optional-packages.js";

export const BROWSER_NAMES = ["chromium", "firefox", "webkit"] as const;
export type BrowserName = (typeof BROWSER_NAMES)[number];
/** The browsers that WebDriver drives. */
export type DrivenName = Exclude<BrowserName, "chromium">;

export function isBrowser(host: string): host is BrowserName {
  return (BROWSER_NAMES as readonly string[]).includes(host);
}

/** Returns why no page can be opened in this browser here, and the remedy. Undefined if pages can be opened. */
export function browserProblem(name: BrowserName): string | undefined {
  if (name === "chromium") return chromiumProblem();
  if (!has(name)) return missing(name);
  return name === "firefox" ? packagesMissing(["ws"]) : undefined;
}

/** Opens a window of a browser with an empty profile. Rejects with an Error that says what to install. */
export async function openWindow(name: DrivenName, options: Parameters<typeof open>[1] = {}): Promise<Driven> {
  const problem = browserProblem(name);
  if (problem !== undefined) throw new Error(problem);
  return open(name, options);
}

export interface OpenPage {
  /** Calls a function in the page. Argument and result cross as JSON; the function sees no variables of its file. */
  evaluate<Result>(act: (text: string) => Result, text: string): Promise<Awaited<Result>>;
  close(): Promise<void>;
}

export interface PageBrowser {
  /** The browser and its version: "Chromium 156.0". Undefined before the first page. */
  readonly version: string | undefined;
  /** Opens a page in a process of its own, and waits until its script has set the global variable `ready`. */
  open(url: string, ready: string): Promise<OpenPage>;
  close(): Promise<void>;
}

/** Time for a page to load and to set its variable, in milliseconds. */
const READY_MS_MAX = 60_000;
const POLL_MS = 10;

/** Starts a browser for pages of the lab. The caller closes it. Rejects with an Error that says what to install. */
export async function startBrowser(name: BrowserName): Promise<PageBrowser> {
  return name === "chromium" ? startChromium() : startDriven(name);
}

async function startChromium(): Promise<PageBrowser> {
  const browser = await launchChromium();
  return {
    version: `Chromium ${browser.version()}`,
    async open(url, ready) {
      const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
      const close = () => context.close();
      return whenReady(ready, close, async () => {
        const page = await context.newPage();
        await page.goto(url);
        return { evaluate: (act, text) => page.evaluate(act, text) as never, close };
      });
    },
    close: () => browser.close(),
  };
}

/** A window is a browser of its own: two windows of one browser would share processes, and the hidden one would be slowed down. */
async function startDriven(name: DrivenName): Promise<PageBrowser> {
  const problem = browserProblem(name);
  if (problem !== undefined) throw new Error(problem);
  const windows = new Set<Driven>();
  let version: string | undefined;
  return {
    get version() {
      return version;
    },
    async open(url, ready) {
      const window = await openWindow(name);
      windows.add(window);
      version = window.version;
      const close = async (): Promise<void> => {
        if (windows.delete(window)) await window.close();
      };
      return whenReady(ready, close, async () => {
        await window.goto(url);
        return { evaluate: (act, text) => window.evaluate(act, text), close };
      });
    },
    close: async () => void (await Promise.all([...windows].map((window) => window.close()))),
  };
}

async function whenReady(ready: string, close: () => Promise<void>, open: () => Promise<OpenPage>): Promise<OpenPage> {
  try {
    const page = await open();
    const lateAt = performance.now() + READY_MS_MAX;
    while (!(await page.evaluate((name) => name in globalThis, ready))) {
      if (performance.now() > lateAt) throw new Error(`the page's script did not run: no variable ${ready}`);
      await sleep(POLL_MS);
    }
    return page;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns why Chromium can open no page here, and the remedy. Undefined if pages can be opened. */
function chromiumProblem(): string | undefined {
  return findChromium() === undefined ? chromiumMissing() : packagesMissing(["playwright-core"]);
}

/** Starts Chromium. The caller closes it. Rejects with an Error that says what to install, or why Chromium does not start. */
export async function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  const problem = chromiumProblem();
  if (problem !== undefined) throw new Error(problem);
  const executablePath = findChromium() as string;
  // Loaded here, because it takes a tenth of a second, and only pages need it.
  const { chromium } = await import("playwright-core");
  try {
    return await chromium.launch({
      executablePath,
      args: ["--headless", ...chromiumFlags],
      handleSIGINT: false,
      ...options,
    });
  } catch (error) {
    const why = (error as Error).message.split("\n")[0];
    throw new Error(`Chromium does not start: ${executablePath}: ${why}. Set CLEARWAY_CHROMIUM to another one`);
  }
}
