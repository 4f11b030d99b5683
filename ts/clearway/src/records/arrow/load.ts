// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../../error/clearway-error.js";

export type Arrow = typeof import("apache-arrow");

let registered: Arrow | undefined;

/** Gives the package to {@link loadArrow}. For bundles, in which it has no place of its own. */
export function registerArrow(arrow: Arrow): void {
  registered = arrow;
}

/** Returns the registered package, or else loads the optional package on first use. Throws `missing-package`. */
export async function loadArrow(): Promise<Arrow> {
  try {
    return registered ?? (await load<Arrow>("apache-arrow"));
  } catch (reason) {
    throw caused(
      "missing-package",
      'Arrow tables need the package apache-arrow: npm install apache-arrow; a bundle also needs import "clearway/records/arrow"',
      reason,
    );
  }
}

// Not a literal, and with comments for bundlers: every app that receives a table bundles this file, and most have no such package.
const load = <T>(name: string): Promise<T> => import(/* @vite-ignore */ /* webpackIgnore: true */ name);
