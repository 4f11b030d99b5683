// SPDX-License-Identifier: MIT OR Apache-2.0
// The tests that belong to no package: `npx vitest run --root test`. Packing, installing and bundling take several seconds.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*/*.test.ts"],
    fileParallelism: false,
    testTimeout: 540_000,
    hookTimeout: 540_000,
  },
});
