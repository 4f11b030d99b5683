// SPDX-License-Identifier: MIT OR Apache-2.0
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
