// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { builtUrl } from "../fixtures/pools.js";

test("a pool that was used and left open imports no module after the test runner has removed the module loader", async () => {
  const entry = new URL("../../dist/node/index.js", import.meta.url).href;
  const child = fileURLToPath(new URL("./left-open.child.mjs", import.meta.url));
  // Of this Node alone: a runner's own options would reach the child.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const flags = ["--experimental-vm-modules", "--no-warnings"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, child, entry, builtUrl("foreign").href], {
    env,
  });
  expect(JSON.parse(stdout)).toEqual([]);
});
