// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// See `test/fixtures/fast-check.ts`.
const asked = process.env["CLEARWAY_FUZZ_SEED"] ?? "20261127";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: fileURLToPath(new URL("./test/fixtures/build.ts", import.meta.url)),
    provide: { seed: asked === "random" ? Date.now() | 0 : Number(asked) },
    // Each test file starts its own nats-server and its own workers, which wait for each other most of the time.
    maxWorkers: 3,
    // A test of a forgotten stream collects garbage.
    execArgv: ["--expose-gc"],
    // These limits, in milliseconds, catch tests that hang, not slow ones: the machine may be busy.
    testTimeout: 540_000,
    hookTimeout: 540_000,
    expect: { poll: { timeout: 300_000 } },
  },
});

declare module "vitest" {
  export interface ProvidedContext {
    seed: number;
  }
}
