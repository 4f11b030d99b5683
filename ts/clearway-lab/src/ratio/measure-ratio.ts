// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures this machine, then another device through the page that it opens.
import { readFileSync } from "node:fs";
import type { Amounts } from "./device/measure-device.js";
import type { PageResult } from "./device/page-result.js";
import { type PageLimits, servePage } from "./page-server.js";
import { type Device, parseResult, type RatioFile, ratioFile } from "./ratio-file.js";
import { measureChromium, measureNode } from "./this-device.js";

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
