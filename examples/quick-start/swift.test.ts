// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the quick start of swift/README.md.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { build, product, toolchain } from "../../scripts/swift.mjs";

const program = product("QuickStartExample");

test.skipIf(toolchain() === undefined)(
  "the quick start for Swift calls a method and reads the events of a socket's other end",
  { timeout: 600_000 },
  () => {
    if (!existsSync(program)) expect(build("QuickStartExample")).toBe(0);
    const { status, stdout } = spawnSync(program, { encoding: "utf8" });
    expect(stdout).toBe("step 1\nstep 2\nstep 3\npoint 1.0 2.0\nwidth 320 done true\nserver: closed\n");
    expect(status).toBe(0);
  },
);
