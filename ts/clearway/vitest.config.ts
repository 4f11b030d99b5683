// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";

// One suite runs on Node and on Chromium. The file's name says where a test runs:
//   *.test.ts          Node, Node by port (pools and streams), Chromium with cross-origin isolation and without
//   *.node.test.ts     Node only
//   *.browser.test.ts  Chromium only, with cross-origin isolation and without
//   *.pure.test.ts     the machine's own Node and one Chromium, because the test does not depend on the host
// Tests do not depend on a clock or a sampler. measure/ checks the figures that do.

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const setupFiles = here("./test/fixtures/same-bytes.ts");
const alias = (host: string): Record<string, string> => ({
  "#host": here(`./src/host/${host}.ts`),
  "#meter-host": here(`./src/meter/host/${host}.ts`),
  "#serving": here(`./src/task/serving/${host}.ts`),
});

// The names that the build replaces. See `src/host/defines.d.ts`.
const define = (host: string): Record<string, string> => ({ hasProcesses: String(host === "node") });

// Sets the headers by an option of the server. A middleware would not work, because Vitest serves the page of the tests before any plugin's
// middleware runs.
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

// These limits catch tests that hang, not slow ones. The complete model of the ring took 36 s on a machine that paused now and then.
// Vitest's default for hooks is 10 s, which may be too short to start PostgreSQL or a browser. Its default for `expect.poll` is 1 s. A busy
// machine does not always replace a worker in that time.
const patience = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 60_000 } },
};

// Two test files run at the same time, even on two cores. Vitest requires the same number of workers in all projects of one `groupOrder`.
const inNode = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const inBrowser = { sequence: { groupOrder: 1 } };
const pure = "test/**/*.pure.test.ts";
// The suites that also run over child processes: what a pool does, without what needs shared memory or threads. Each test starts processes,
// so this is a part of the suites. `processes.node.test.ts` and `processes-end.node.test.ts`, which test the differences, run in `node`.
const overProcesses = [
  "pool/{callback,calls,cancel,crash,ending,events,keys,map}",
  "pool/no-hang.node",
  "stream/{batches,streams,two-way}",
];
// A model of the ring's protocol. It contains none of the library's code, so it runs on one host only.
const models = "test/transport/ring/model.node.test.ts";

// Node itself, instead of Vite, loads the copies of the library that `test/fixtures/partial-library.ts` makes. After a module was missing,
// Node looks for its file again at the next import.
const server = { deps: { external: [/\/built\/partial-/] } };

function browserProject(name: string, plugins: Plugin[], include = "test/**/*.test.ts") {
  return {
    plugins,
    resolve: { alias: alias("browser") },
    define: define("browser"),
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
        define: define("node"),
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
        define: define("node"),
        test: { name: "pure", provide, server, setupFiles, include: [pure], ...inNode, ...patience },
      },
      { test: { name: "models", include: [models], ...inNode, ...patience } },
      {
        resolve: { alias: alias("node") },
        define: define("node"),
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
      {
        resolve: { alias: alias("node") },
        define: define("node"),
        test: {
          name: "node-processes",
          provide,
          server,
          setupFiles,
          env: { CLEARWAY_WORKERS: "processes" },
          globalSetup: here("./test/fixtures/build.ts"),
          include: overProcesses.map((name) => `test/${name}.test.ts`),
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
