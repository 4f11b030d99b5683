// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds dist/ (the CLI, the runners and the workers for Node) and dist/page/ (the same mechanisms for browsers). All entries of one
// target are in one flat folder, so that a file finds its worker next to it.
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build as bundle } from "esbuild";
import ts from "typescript";
import { bundledPackages, licenceTexts } from "../../scripts/notices.mjs";
import { copyPluginSources } from "./plugin-sources.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const source = (name) => path.join(here, "src", name);

// --out DIR: another folder inside the package, for tests.
const { values: options } = parseArgs({ options: { out: { type: "string", default: "dist" } } });
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

/** The files in the bundles. */
const bundled = new Set();

/** Bundles, and remembers which files the bundles contain. */
async function build(options) {
  const { metafile } = await bundle({ ...options, metafile: true });
  for (const { inputs } of Object.values(metafile.outputs))
    for (const [name, { bytesInOutput }] of Object.entries(inputs)) if (bytesInOutput > 0) bundled.add(name);
}

const work = (names) => Object.fromEntries(names.map((name) => [`work-${name}`, source(`work/${name}.ts`)]));
const everywhere = [
  "isolate-bare",
  "isolate-comlink",
  "isolate-tasks",
  "pool-bare",
  "pool-comlink",
  "pool-tasks",
  "pool-workerpool",
  "push-bare",
  "push-comlink",
  "push-tasks",
  "channel",
];

await rm(out, { recursive: true, force: true });

const external = [
  "@nats-io/*",
  "@jridgewell/trace-mapping",
  "ajv",
  "ajv/*",
  "cbor-x",
  "clearway",
  "clearway-nats",
  "clearway-nats/*",
  "clearway-native",
  "clearway-native/*",
  "clearway/*",
  "cli-progress",
  "commander",
  "esbuild",
  "hdr-histogram-js",
  "koffi",
  "leven",
  "msgpackr",
  "node-api-headers",
  "piscina",
  "playwright-core",
  "poolifier",
  "rxjs",
  "tinypool",
  "uqr",
  "workerpool",
  "ws",
];

await build({
  ...shared,
  platform: "node",
  outdir: out,
  entryPoints: {
    cli: source("cli/main.ts"),
    "arm-node": source("arm/node.ts"),
    "runner-node": source("runner/node.ts"),
    "runner-browser": source("runner/browser.ts"),
    "runner-flutter": source("runner/flutter.ts"),
    "runner-user-code": source("runner/user-code.ts"),
    index: source("bench/scenario.ts"),
    "experiments-page": source("report/experiments/markdown.ts"),
    "fixture-server": source("runner/fixture-server.ts"),
    "idle-watcher": source("machine/idle-watcher.ts"),
    "jank-process": source("jank/in-process.ts"),
    "jank-profiler": source("jank/in-profiler.ts"),
    "jank-typescript": source("jank/typescript.ts"),
    ...work([
      ...everywhere,
      "closed-tasks",
      "feed-bare",
      "feed-tasks",
      "pool-function",
      "pool-poolifier",
      "offload-function",
      "offload-tasks",
      "channel-process",
      "flutter-answer",
      "remote-tasks",
      "remote-worker",
    ]),
  },
  // Comlink is bundled, because its Node entry is CommonJS and its documentation uses the ES modules.
  external,
  alias: {
    "#lab-host": source("host/node.ts"),
    "#lab-node-arms": source("arm/node-arms.ts"),
    "#lab-pool-peers": source("isolate/pool-peers.ts"),
    "#lab-node-only": source("runner/node-only.ts"),
  },
});

copyPluginSources(path.join(here, "../../native"), path.join(out, "plugin"));

// The package's entry is one file without imports, so its types are one file, too.
const { outputText } = ts.transpileDeclaration(await readFile(source("bench/scenario.ts"), "utf8"), {
  compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext },
});
await writeFile(path.join(out, "index.d.ts"), outputText);

// The part of `clearway jank` that runs in a measured page is one script, because it runs before the page's own scripts.
await build({
  ...shared,
  splitting: false,
  format: "iife",
  minify: true,
  platform: "browser",
  outdir: path.join(out, "page"),
  entryPoints: { jank: source("jank/in-page.ts") },
  conditions: ["browser"],
});

// The part of `clearway ratio` that runs on both devices is one file: the same for Node and for a browser.
await build({
  ...shared,
  splitting: false,
  platform: "browser",
  outdir: path.join(out, "page"),
  entryPoints: { "ratio-device": source("ratio/device/main.ts") },
});

const page = {
  ...shared,
  platform: "browser",
  outdir: path.join(out, "page"),
  conditions: ["browser"],
  define: { "process.env.NODE_ENV": '"production"' },
  minify: true,
  // Code imports these modules only after a check for Node (workerpool's own check, and the one for EventEmitter).
  external: ["node:*", "worker_threads", "os", "child_process"],
  alias: {
    "#lab-host": source("host/browser.ts"),
    "#lab-node-arms": source("host/none.ts"),
    "#lab-pool-peers": source("host/none.ts"),
    "#lab-node-only": source("host/none.ts"),
  },
};
await build({ ...page, entryPoints: { arm: source("arm/page.ts"), page: source("runner/page.ts") } });
// Bundlers for apps build each worker apart, so that what it always needs is one file. They minify, too.
for (const name of everywhere) await build({ ...page, entryPoints: work([name]) });

await writeFile(
  path.join(out, "THIRD-PARTY-LICENSES.txt"),
  `The files in this folder contain code of these packages.\n\n${licenceTexts(bundledPackages(bundled, here))}`,
);
