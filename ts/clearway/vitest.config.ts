// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";

// One suite, three runtimes. The file's name says where a test runs:
//   *.test.ts          Node, Node by port (pools and streams), Chromium with cross-origin isolation and without
//   *.node.test.ts     Node only
//   *.browser.test.ts  Chromium only, with cross-origin isolation and without
//   *.pure.test.ts     touches no host: the machine's own Node and one Chromium
// What a clock or a sampler decides is no test: see measure/.

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

// Two at once on two cores; projects of one group have the same number of workers.
const inNode = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const inBrowser = { sequence: { groupOrder: 1 } };
const pure = "test/**/*.pure.test.ts";
// A model of the ring's protocol, none of the library's code: one runtime says as much of it as two.
const models = "test/transport/ring/model.node.test.ts";

// Copies of the library are loaded by Node itself, which looks again for a module that was missing (`test/fixtures/partial-library.ts`).
const server = { deps: { external: [/\/built\/partial-/] } };

function browserProject(name: string, plugins: Plugin[], include = "test/**/*.test.ts") {
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
      include: [include],
      exclude: ["**/*.node.test.ts", ...(include === pure ? [] : [pure])],
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
          exclude: ["**/*.browser.test.ts", pure, models],
          ...inNode,
          ...patience,
        },
      },
      {
        resolve: { alias: alias("node") },
        test: { name: "pure", provide, server, setupFiles, include: [pure], ...inNode, ...patience },
      },
      { test: { name: "models", include: [models], ...inNode, ...patience } },
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
          exclude: ["**/*.browser.test.ts", pure],
          ...inNode,
          ...patience,
        },
      },
      browserProject("chromium", []),
      browserProject("chromium-isolated", [isolation]),
      browserProject("chromium-pure", [], pure),
    ],
  },
});
