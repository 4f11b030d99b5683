// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs every example whole: `npx vitest run --root examples`. One file at a time, because the demo's test compares how
// long a main thread was held, and another example's work on the same two cores would blur that.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*/*.test.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
