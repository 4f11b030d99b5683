// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Uses two workers. On two cores, Vitest would use one worker, and the tests would take 13 s instead of 8 s.
    maxWorkers: 2,
    globalSetup: here("./test/fixtures/build.ts"),
    // The tests import the sources and use the built addon.
    env: { CLEARWAY_NATIVE_ADDON: process.env["CLEARWAY_NATIVE_ADDON"] ?? here("./dist/clearway.node") },
    execArgv: ["--expose-gc"],
    // These limits, in milliseconds, catch tests that hang, not slow ones: the machine may be busy.
    testTimeout: 540_000,
    hookTimeout: 540_000,
  },
});
