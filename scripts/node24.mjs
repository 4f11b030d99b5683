// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the pinned Node 24 stands that the tests run on beside the machine's own Node. It comes as a platform package
// rather than through the `node` package, whose install script fetches a binary that no lock file vouches for.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Path of the Node 24 binary, or undefined where none is packed for this platform. */
export function node24() {
  const path = fileURLToPath(
    new URL(`../node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url),
  );
  return existsSync(path) ? path : undefined;
}
