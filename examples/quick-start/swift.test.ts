// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the quick start of swift/README.md.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { compile, program, toolchain } from "../../scripts/swift.mjs";

test.skipIf(toolchain() === undefined)(
  "the quick start for Swift calls a method and reads the events of a socket's other end",
  () => {
    if (!program("QuickStartExample")) expect(compile("--product", "QuickStartExample")).toBe(0);
    const [path, ...before] = program("QuickStartExample")!;
    const { status, stdout } = spawnSync(path, before, { encoding: "utf8" });
    expect(stdout).toBe("step 1\nstep 2\nstep 3\npoint 1.0 2.0\nwidth 320 done true\nserver: closed\n");
    expect(status).toBe(0);
  },
);
