// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import type { Engine } from "../../scripts/browsers/engines.mjs";
import { chromiumFlags, chromiumPath } from "../../scripts/chromium.mjs";
import { hostTests } from "../../scripts/every-host.mjs";
import { driven } from "./test/fixtures/driven-browser.js";

// One suite runs on Node and in browsers. The file's name says where a test runs:
//   *.test.ts          Node and browsers
//   *.node.test.ts     Node only
//   *.browser.test.ts  browsers only
//   *.pure.test.ts     the machine's own Node and Chromium, because the test does not depend on the host
// A change runs every test once on the machine's own Node and once in Chromium with cross-origin isolation. On the other hosts, and in
// Firefox and WebKit, it runs the tests that scripts/every-host.mjs selects. `CLEARWAY_EVERY_TEST=1` (`make deep`) runs every test on every host.
// Tests do not depend on a clock or a sampler. measure/ checks the figures that do.

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const setupFiles = here("./test/fixtures/same-bytes.ts");
const alias = (host: string): Record<string, string> => ({
  "#host": here(`./src/host/${host}.ts`),
  "#meter-host": here(`./src/meter/host/${host}.ts`),
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
const seed = asked === "random" ? Date.now() | 0 : Number(asked);
const everyTest = process.env["CLEARWAY_EVERY_TEST"] === "1";
/**
 * The share of random cases. Another host than the machine's own Node plays one of each test, or in `make deep` a tenth of them, which shows
 * that the test runs there.
 */
const someCases = { seed, casesShare: everyTest ? 1 : 0.25 };
const oneCase = { seed, casesShare: everyTest ? 0.1 : 0 };

// These limits catch tests that hang, not slow ones: the machine may be busy. They are a minute less than that of a stage without output, so
// that the test that hangs is named.
const patience = {
  testTimeout: 540_000,
  hookTimeout: 540_000,
  teardownTimeout: 540_000,
  expect: { poll: { timeout: 300_000 } },
};

// Two test files run at the same time, even on two cores. Vitest requires the same number of workers in all projects of one `groupOrder`.
const inNode = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const inBrowser = { sequence: { groupOrder: 1 } };
const pure = "test/**/*.pure.test.ts";
// Pure files share a page or a process: one for each file would take as long as half of their tests. `make deep` gives each file its own.
const shared = { isolate: everyTest };
const selected = hostTests(here("."));
const orAll = (paths: string[]): string[] => (everyTest ? ["test/**/*.test.ts"] : paths);
// A model of the ring's protocol. It contains none of the library's code, so it runs on one host only.
const models = "test/transport/ring/model.node.test.ts";

// Node itself, instead of Vite, loads the copies of the library that `test/pool/missing-modules.node.test.ts` makes. After a module was missing,
// Node looks for its file again at the next import.
const server = { deps: { external: [/\/built\/partial-/] } };

/** A project in Node. `more` are its own options. */
function nodeProject(name: string, include: string[], more: object = {}) {
  return {
    resolve: { alias: alias("node") },
    define: define("node"),
    test: {
      name,
      provide: oneCase,
      server,
      setupFiles,
      globalSetup: here("./test/fixtures/build.ts"),
      include,
      exclude: ["**/*.browser.test.ts", pure, models],
      ...inNode,
      ...patience,
      ...more,
    },
  };
}

/** How a project opens its browser. WebKitGTK has shared memory only if `sharedMemory` asks for it; Safari has it in isolated pages. */
function instanceOf(engine: "chromium" | Engine, sharedMemory: boolean) {
  const provider =
    engine === "chromium"
      ? playwright({ launchOptions: { executablePath: chromiumPath(), args: chromiumFlags } })
      : driven(engine, { sharedMemory });
  return { provider, instances: [{ browser: engine }] };
}

/** A project in a browser. Its name is the engine's name and `kind`. */
function browserProject(
  engine: "chromium" | Engine,
  kind: "" | "-isolated" | "-bare" | "-pure",
  include: string[],
  more: object = {},
) {
  const isolated = kind === "-isolated" || kind === "-bare";
  return {
    plugins: isolated ? [isolation] : [],
    // Not every engine has `using`.
    oxc: { target: "es2022" },
    resolve: { alias: alias("browser") },
    define: define("browser"),
    optimizeDeps: { include: ["fast-check"], exclude: ["clearway"] },
    test: {
      name: engine + kind,
      provide: oneCase,
      setupFiles,
      env: { CLEARWAY_ISOLATED: isolated ? "1" : "", CLEARWAY_SHARED_MEMORY: kind === "-isolated" ? "1" : "" },
      globalSetup: here("./test/fixtures/build.ts"),
      include,
      exclude: ["**/*.node.test.ts", ...(kind === "-pure" ? [] : [pure])],
      ...inBrowser,
      ...patience,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        ...instanceOf(engine, kind === "-isolated"),
        api: { host: "127.0.0.1" },
      },
      ...more,
    },
  };
}

const all = ["test/**/*.test.ts"];
const suitesOfPools = /^test\/(error|pool|records|resource|stream|transfer)\//;
const byPort = everyTest
  ? ["test/{error,pool,records,resource,stream,transfer}/**/*.test.ts"]
  : selected.byPort.filter((path) => suitesOfPools.test(path));

export default defineConfig({
  test: {
    // A browser may take more than Vitest's minute to start on a busy machine. Only this level has the option.
    browser: { connectTimeout: patience.hookTimeout },
    projects: [
      nodeProject("node", all, { provide: someCases }),
      nodeProject("pure", [pure], { provide: someCases, exclude: [], ...shared }),
      { test: { name: "models", include: [models], ...inNode, ...patience } },
      // For another version of Node than the machine's own.
      nodeProject("node-versions", orAll(selected.everyNode)),
      nodeProject("node-port", byPort, { env: { CLEARWAY_CARRIER: "port" } }),
      nodeProject("node-processes", selected.inProcesses, { env: { CLEARWAY_WORKERS: "processes" } }),
      browserProject("chromium", "", orAll(selected.byPort)),
      browserProject("chromium", "-isolated", all),
      browserProject("chromium", "-pure", [pure], shared),
      ...(["firefox", "webkit"] as const).flatMap((engine) => [
        browserProject(engine, "", orAll(selected.everyEngine)),
        browserProject(engine, "-isolated", orAll(selected.everyEngine)),
        browserProject(engine, "-pure", [pure], shared),
      ]),
      // WebKitGTK as it is shipped: isolated pages without SharedArrayBuffer.
      browserProject("webkit", "-bare", orAll(selected.everyEngine)),
    ],
  },
});
