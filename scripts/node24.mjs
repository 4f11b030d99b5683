// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the pinned Node 24, on which the tests run in addition to the machine's own Node. It comes from a platform package. The install
// script of the `node` package would fetch a binary that no lock file verifies.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the path of the Node 24 binary, or undefined if there is no package for this platform. */
export function node24() {
  const path = fileURLToPath(
    new URL(`../node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url),
  );
  return existsSync(path) ? path : undefined;
}
