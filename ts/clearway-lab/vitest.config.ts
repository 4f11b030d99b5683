// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's own tests: `npx vitest run --root ts/clearway-lab`. They build the command and run it in separate processes.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "#lab-host": fileURLToPath(new URL("src/host/node.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    // Simulations and whole runs that take minutes: `make deep` has them.
    exclude: process.env["CLEARWAY_EVERY_TEST"] === "1" ? [] : ["test/**/*.deep.test.ts"],
    // Two workers take 39 s, even on two cores. Vitest would use one worker there, which takes 57 s.
    maxWorkers: 2,
    // These limits catch tests that hang, not slow ones. On a busy machine, starting three processes exceeds Vitest's default of 5 s.
    testTimeout: 540_000,
    hookTimeout: 540_000,
    expect: { poll: { timeout: 300_000 } },
    // What is printed has no colours, also when the tests run in a terminal.
    env: { NO_COLOR: "1" },
  },
});
