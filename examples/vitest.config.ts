// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs every example completely: `npx vitest run --root examples`.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*.test.ts", "*/*.test.ts"],
    maxWorkers: 2,
    // These limits, in milliseconds, catch tests that hang, not slow ones: the machine may be busy.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
  },
});
