// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs after `npm install`. The package with Node 24 for the tests also links a `node` into node_modules/.bin, which npm and npx put first
// on the PATH. Every `npx vitest` would then run on Node 24 instead of the machine's own Node, which may be the oldest supported version.
// This script removes the link. scripts/node24.mjs finds the binary without it.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

rmSync(fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url)), { force: true });
