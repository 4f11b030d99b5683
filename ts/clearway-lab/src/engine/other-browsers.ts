// SPDX-License-Identifier: MIT OR Apache-2.0
// Chromium's questions in the other browsers. As data.
import type { DrivenName } from "../browser/open.js";
import { COMPARISONS, CONTROLS, type Comparison } from "./comparison.js";
import { FURTHER } from "./limits.js";

const TITLES: Readonly<Record<DrivenName, string>> = { firefox: "Firefox", webkit: "WebKit" };
/** What differs in the set-up of both arms. */
const SET_UP: Partial<Record<DrivenName, string>> = {
  webkit: "; WebKitGTK has no shared memory, so everything goes by port",
};

const inBrowser = (comparison: Comparison, host: DrivenName): Comparison => ({
  ...comparison,
  host,
  name: comparison.name.includes("chromium") ? comparison.name.replace("chromium", host) : `${comparison.name}-${host}`,
  thing: comparison.thing.replace("Chromium", TITLES[host]),
  setUp: `${comparison.setUp}${SET_UP[host] ?? ""}`,
});

const inOthers = (comparisons: readonly Comparison[]): Comparison[] =>
  Object.keys(TITLES).flatMap((host) =>
    comparisons.filter((each) => each.host === "chromium").map((each) => inBrowser(each, host as DrivenName)),
  );

/** Chromium's comparisons in Firefox and WebKit. Only a run that names them, or their host, measures them. */
export const IN_OTHER_BROWSERS: readonly Comparison[] = inOthers([...COMPARISONS, ...FURTHER]);

/** The same mechanism twice in each of these browsers. */
export const CONTROLS_IN_OTHER_BROWSERS: readonly Comparison[] = inOthers(CONTROLS);
