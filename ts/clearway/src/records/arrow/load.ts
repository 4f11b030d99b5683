// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../../error/clearway-error.js";

export type Arrow = typeof import("apache-arrow");

/** Loads the optional package on first use. Throws `missing-package`. */
export async function loadArrow(): Promise<Arrow> {
  try {
    return await import("apache-arrow");
  } catch (reason) {
    throw caused("missing-package", "Arrow tables need the package apache-arrow: npm install apache-arrow", reason);
  }
}
