// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's own tests: `npx vitest run --root ts/clearway-lab`. They build the command and run it, in processes of their own.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Against what hangs, not against what is slow: vitest's own 5 s are over when a busy machine starts three processes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
