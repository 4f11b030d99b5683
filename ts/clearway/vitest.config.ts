// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";

// One suite, three runtimes: `*.test.ts` runs everywhere, `*.node.test.ts` in Node only, `*.browser.test.ts` in Chromium
// only, with cross-origin isolation and without.

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const setupFiles = here("./test/fixtures/same-bytes.ts");
const alias = (host: string): Record<string, string> => ({
  "#host": here(`./src/host/${host}.ts`),
  "#meter-host": here(`./src/meter/host/${host}.ts`),
  "#serving": here(`./src/task/serving/${host}.ts`),
});

// As a setting, not as a middleware: Vitest answers for the page of the tests itself, before any plugin's middleware.
const isolation: Plugin = {
  name: "cross-origin-isolation",
  config: () => ({
    server: {
      headers: {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
        "Cross-Origin-Resource-Policy": "same-origin",
      },
    },
  }),
};

// See `test/fixtures/fast-check.ts`.
const asked = process.env["CLEARWAY_FUZZ_SEED"] ?? "20261121";
const provide = { seed: asked === "random" ? Date.now() | 0 : Number(asked) };

// Against what hangs, not against what is slow: 36 s were seen for the ring's whole model on a machine that stood still now
// and then. Vitest's own limit for hooks, in which PostgreSQL and browsers start, is 10 s, and for `expect.poll` 1 s, in
// which a busy machine does not always replace a worker.
const patience = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 60_000 } },
};

// Files run side by side, but for those that measure: what the others do would be found in their figures.
const aside = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const alone = { maxWorkers: 1, sequence: { groupOrder: 1 } };
const inBrowser = { sequence: { groupOrder: 2 } }; // projects of one group have as many workers
const measuring = "test/meter/*.node.test.ts";
// A model of the ring's protocol, none of the library's code: one runtime says as much of it as two.
const models = "test/transport/ring/model.node.test.ts";

// Copies of the library are loaded by Node itself, which looks again for a module that was missing (`test/fixtures/parts.ts`).
const server = { deps: { external: [/\/built\/partial-/] } };

function browserProject(name: string, plugins: Plugin[]) {
  return {
    plugins,
    resolve: { alias: alias("browser") },
    optimizeDeps: { include: ["fast-check"], exclude: ["clearway"] },
    test: {
      name,
      provide,
      setupFiles,
      env: { CLEARWAY_ISOLATED: plugins.includes(isolation) ? "1" : "" },
      globalSetup: here("./test/fixtures/build.ts"),
      include: ["test/**/*.test.ts"],
      exclude: ["**/*.node.test.ts"],
      ...inBrowser,
      ...patience,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({
          launchOptions: { executablePath: chromiumPath(), args: chromiumFlags },
        }),
        instances: [{ browser: "chromium" as const }],
        api: { host: "127.0.0.1" },
      },
    },
  };
}

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias: alias("node") },
        test: {
          name: "node",
          provide,
          server,
          setupFiles,
          globalSetup: here("./test/fixtures/build.ts"),
          include: ["test/**/*.test.ts"],
          exclude: ["**/*.browser.test.ts", measuring, models],
          ...aside,
          ...patience,
        },
      },
      {
        resolve: { alias: alias("node") },
        test: { name: "node-alone", provide, server, setupFiles, include: [measuring], ...alone, ...patience },
      },
      { test: { name: "models", include: [models], ...aside, ...patience } },
      {
        resolve: { alias: alias("node") },
        test: {
          name: "node-port",
          provide,
          server,
          setupFiles,
          env: { CLEARWAY_CARRIER: "port" },
          globalSetup: here("./test/fixtures/build.ts"),
          include: ["test/{error,pool,resource,stream,transfer}/**/*.test.ts"],
          exclude: ["**/*.browser.test.ts"],
          ...aside,
          ...patience,
        },
      },
      browserProject("chromium", []),
      browserProject("chromium-isolated", [isolation]),
    ],
  },
});
