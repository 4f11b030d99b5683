// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Two workers, even on two cores, where Vitest would use one: 8 s instead of 13 s.
    maxWorkers: 2,
    globalSetup: here("./test/fixtures/build.ts"),
    // The tests import the sources and use the built addon.
    env: { CLEARWAY_NATIVE_ADDON: process.env["CLEARWAY_NATIVE_ADDON"] ?? here("./dist/clearway.node") },
    execArgv: ["--expose-gc"],
    // These limits catch tests that hang, not slow ones.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
