// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // On two cores as well, where Vitest would take one: 8 s for 13.
    maxWorkers: 2,
    globalSetup: here("./test/fixtures/build.ts"),
    // The sources are tested, with the addon that was built.
    env: { CLEARWAY_NATIVE_ADDON: process.env["CLEARWAY_NATIVE_ADDON"] ?? here("./dist/clearway.node") },
    execArgv: ["--expose-gc"],
    // Against what hangs, not against what is slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
