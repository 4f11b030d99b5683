// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures this machine, then another device through the page that it opens.
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { launchChromium } from "../browser/open.js";
import { machineFacts } from "../machine/facts.js";
import type { NodeMessage } from "./device/main.js";
import type { Amounts, PageResult } from "./device/measure-device.js";
import { printable } from "./device-time.js";
import { PageEnded, type PageLimits, type ServedPage, servePage } from "./page-server.js";
import { type Device, parseResult, type RatioFile, ratioFile, samplesOf } from "./ratio-file.js";

export const AMOUNTS: Amounts = { rounds: 9, batchMs: 40, warmUpMsMax: 4_000 };

export interface RatioOptions {
  readonly here: "node" | "chromium";
  /** The address of this machine on which the page is served. */
  readonly address: string;
  /** How long the other device is waited for, in milliseconds. */
  readonly timeoutMs: number;
  /** The other device's name. Default: its browser and system. */
  readonly name?: string | undefined;
  /** Ends the measurement. */
  readonly signal: AbortSignal;
  /** The built file that runs on both devices. */
  readonly script: string;
  readonly amounts?: Amounts;
  readonly limits?: PageLimits;
}

export type RatioEvent =
  | { readonly kind: "measuring"; readonly here: RatioOptions["here"] }
  | { readonly kind: "measured"; readonly here: Device }
  /** The page can be opened now. */
  | { readonly kind: "waiting"; readonly url: string };

/** Names the lab's machine for a reader on the other device. */
const nameThere = ({ name }: Device) => `${name} on the lab's computer`;

const LOOPBACK = "127.0.0.1";

/**
 * Measures both devices and returns the ratio. Rejects with CannotMeasureDevice if this machine cannot be measured, and with PageEnded if
 * no result came: after the time limit, or because `signal` aborted.
 */
export async function measureRatio(options: RatioOptions, tell: (event: RatioEvent) => void): Promise<RatioFile> {
  const { here: host, address, timeoutMs, signal, amounts = AMOUNTS } = options;
  const served = {
    script: readFileSync(options.script, "utf8"),
    amounts,
    ...(options.limits && { limits: options.limits }),
  };
  tell({ kind: "measuring", here: host });
  const here = host === "node" ? await measureNode(options.script, amounts, signal) : await chromiumHere();
  tell({ kind: "measured", here });

  let file: RatioFile | undefined;
  const accept = (result: PageResult) => {
    const name = options.name ?? browserName(result.agent);
    const there: Device = { host: "page", name, agent: result.agent, cores: result.cores, samples: result.samples };
    file = ratioFile(here, there, new Date().toISOString());
    const { ratio, ratioMin, ratioMax } = file;
    return { ratio, ratioMin, ratioMax, here: nameThere(here) };
  };
  const page = await servePage({ ...served, address, here: nameThere(here), parse: parseResult, accept });
  const timer = setTimeout(
    () => void page.close(`no device sent a result within ${timeoutMs / 1000} s; --timeout sets this limit`),
    timeoutMs,
  );
  const interrupt = () => void page.close("interrupted");
  signal.addEventListener("abort", interrupt);
  try {
    if (signal.aborted) interrupt();
    else tell({ kind: "waiting", url: page.url });
    await page.result;
    return file!;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", interrupt);
    await page.close();
  }

  /** Measures Chromium through a page of its own, on this machine only. */
  async function chromiumHere(): Promise<Device> {
    const here = "itself";
    const answer = { ratio: 1, ratioMin: 1, ratioMax: 1, here };
    const page = await servePage({ ...served, address: LOOPBACK, here, parse: parseResult, accept: () => answer });
    try {
      return await measureChromium(page, signal);
    } finally {
      await page.close();
    }
  }
}

// Names a browser and its system by the user agent: `Safari 18 on iPhone`.

/** In this order: Chromium's derivatives also call themselves Chrome, and all call themselves Safari. */
const BROWSERS: readonly [string, RegExp][] = [
  ["Edge", /\bEdg(?:A|iOS)?\/(\d+)/],
  ["Opera", /\bOPR\/(\d+)/],
  ["Samsung Internet", /\bSamsungBrowser\/(\d+)/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /\b(?:Chrome|HeadlessChrome|CriOS)\/(\d+)/],
  ["Safari", /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//],
];

const SYSTEMS: readonly [string, RegExp][] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["macOS", /\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
];

/** Returns a name for a browser. The text may be anything. */
export function browserName(agent: string): string {
  const [browser, pattern] = BROWSERS.find(([, each]) => each.test(agent)) ?? ["a browser", undefined];
  const version = pattern === undefined ? "" : ` ${pattern.exec(agent)?.[1]?.slice(0, 5)}`;
  const [system] = SYSTEMS.find(([, each]) => each.test(agent)) ?? ["another device"];
  return `${browser}${version} on ${system}`;
}

// Measures this machine: Node in a process of its own, or the installed Chromium with the page that other devices open.

/** The device cannot be measured. The message says why, and what to do. */
export class CannotMeasureDevice extends Error {}

/** Measures Node in a new process, which runs the file `script`. Ends the process if `signal` aborts. */
async function measureNode(script: string, amounts: Amounts, signal: AbortSignal): Promise<Device> {
  const { cpu, cores } = machineFacts();
  const child = fork(script, [JSON.stringify(amounts)], {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  signal.addEventListener("abort", end);
  try {
    const message = await new Promise<NodeMessage>((resolve, reject) => {
      child.once("message", (given) => resolve(given as NodeMessage));
      child.once("error", reject);
      child.once("exit", (code, by) =>
        reject(new CannotMeasureDevice(`the measuring process ended: ${by ?? `status ${code}`}`)),
      );
    });
    signal.throwIfAborted();
    if ("problem" in message) throw new CannotMeasureDevice(message.problem);
    const name = `Node ${process.versions.node.split(".")[0]}`;
    return {
      host: "node",
      name,
      agent: `Node ${process.versions.node}`,
      cores,
      cpu: printable(cpu),
      samples: samplesOf(message.samples),
    };
  } finally {
    signal.removeEventListener("abort", end);
    process.off("exit", end);
    end();
  }
}

/** Opens the served page in the installed Chromium and presses its button. Closes the browser when the result is there. */
async function measureChromium(page: ServedPage, signal: AbortSignal): Promise<Device> {
  const { cpu } = machineFacts();
  const browser = await launchChromium({ handleSIGTERM: false }).catch((error: Error) => {
    throw new CannotMeasureDevice(error.message);
  });
  const end = () => void page.close("interrupted");
  signal.addEventListener("abort", end);
  try {
    signal.throwIfAborted();
    const tab = await browser.newPage();
    tab.once("crash", () => void page.close("the page crashed in Chromium"));
    await tab.goto(page.url);
    await tab.click("#start");
    const { agent, cores, samples } = await page.result;
    const name = `Chromium ${browser.version().split(".")[0]}`;
    return { host: "chromium", name, agent, cores, cpu: printable(cpu), samples };
  } catch (error) {
    if (error instanceof PageEnded) throw new CannotMeasureDevice(`Chromium was not measured: ${error.message}`);
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    await browser.close();
  }
}
