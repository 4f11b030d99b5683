// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's own tests: `npx vitest run --root ts/clearway-lab`. They build the command and run it, in processes of their own.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "#lab-host": fileURLToPath(new URL("src/host/node.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    // On two cores as well, where Vitest would take one: 39 s for 57.
    maxWorkers: 2,
    // Against what hangs, not against what is slow: vitest's own 5 s are over when a busy machine starts three processes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
