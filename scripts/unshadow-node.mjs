// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs after `npm install`. The packages with Node 24 for the tests also link a `node` into node_modules/.bin, which npm and npx put
// first on the PATH. Every `npx vitest` would then run on Node 24, and the machine's own Node, the oldest supported one, would not be
// tested. This script removes the link; scripts/node24.mjs finds the binary.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

rmSync(fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url)), { force: true });
