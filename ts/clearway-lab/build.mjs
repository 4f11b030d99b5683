// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds dist/: the CLI, the runners, the workers (Node), and dist/page/: the same mechanisms for Chromium.
// All entries are built into one flat folder, so that a file finds its worker beside it.
import { rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const source = (name) => path.join(here, "src", name);

// --out DIR: somewhere else inside the package (tests do so). --node-only: without the page, which needs clearway's dist.
const { values: options } = parseArgs({
  options: { out: { type: "string", default: "dist" }, "node-only": { type: "boolean" } },
});
const out = path.join(here, options.out);

const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  splitting: true,
  sourcemap: false,
  logLevel: "warning",
  chunkNames: "chunk-[hash]",
  absWorkingDir: here,
};

const work = (names) => Object.fromEntries(names.map((name) => [`work-${name}`, source(`work/${name}.ts`)]));
const everywhere = [
  "students-bare",
  "students-comlink",
  "students-records",
  "students-tasks",
  "image-bare",
  "image-tasks",
  "upload-bare",
  "upload-comlink",
  "upload-tasks",
  "pool-bare",
  "pool-comlink",
  "pool-workerpool",
  "push-bare",
  "push-comlink",
  "push-tasks",
  "channel-clearway",
  "channel-clearway-move",
  "channel-clearway-ring",
  "channel-clone",
  "channel-comlink",
  "channel-move",
  "channel-msgpackr",
];

await rm(out, { recursive: true, force: true });

await build({
  ...shared,
  platform: "node",
  outdir: out,
  entryPoints: {
    cli: source("cli/main.ts"),
    "runner-node": source("runner/node.ts"),
    "runner-chromium": source("runner/chromium.ts"),
    "fixture-server": source("runner/fixture-server.ts"),
    "idle-watcher": source("machine/idle-watcher.ts"),
    ...work([
      ...everywhere,
      "pool-function",
      "pool-poolifier",
      "pool-tasks-node",
      "offload-comlink",
      "offload-function",
      "offload-poolifier",
      "offload-tasks",
      "offload-workerpool",
      "channel-clearway-stdio",
      "channel-json-stdio",
      "channel-ipc",
    ]),
  },
  // Comlink is bundled: its Node entry is CommonJS, and its ES modules are what its documentation uses.
  external: [
    "@observablehq/plot",
    "ajv",
    "ajv/*",
    "cbor-x",
    "clearway",
    "clearway-native",
    "clearway/*",
    "cli-progress",
    "commander",
    "hdr-histogram-js",
    "jsdom",
    "koffi",
    "msgpackr",
    "node-api-headers",
    "picocolors",
    "piscina",
    "playwright-core",
    "poolifier",
    "rxjs",
    "tinypool",
    "uplot",
    "workerpool",
  ],
  alias: {
    "#lab-host": source("host/node.ts"),
    "#lab-pool-work": source("host/pool-work-node.ts"),
    "#lab-pool-peers": source("isolate/pool-peers.ts"),
    "#lab-node-only": source("runner/node-only.ts"),
  },
});

if (!options["node-only"])
  await build({
    ...shared,
    platform: "browser",
    outdir: path.join(out, "page"),
    entryPoints: { page: source("runner/page.ts"), ...work([...everywhere, "pool-tasks-browser"]) },
    conditions: ["browser"],
    define: { "process.env.NODE_ENV": '"production"' },
    // Reached only behind a test for Node (workerpool's own, and the EventEmitter's).
    external: ["node:*", "worker_threads", "os", "child_process"],
    alias: {
      "#lab-host": source("host/browser.ts"),
      "#lab-pool-work": source("host/pool-work-browser.ts"),
      "#lab-pool-peers": source("isolate/pool-peers-none.ts"),
      "#lab-node-only": source("runner/node-only-none.ts"),
    },
  });
