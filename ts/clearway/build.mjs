// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds `dist/`: one ESM file per entry and host (Node, browser), one per lazy module, and one bundled .d.ts per entry. An entry imports
// its lazy modules when it first needs them. Each entry is one file, because each file that a worker imports delays its start by a fraction
// of a millisecond. Two files may therefore contain copies of one class. Each copy recognizes the other's instances by a brand.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// These entries are not built for browsers, because they need Node.
const nodeOnly = ["stdio", "websocket-server"];
const entries = Object.fromEntries(
  [
    "index",
    "worker",
    "callback",
    "transfer",
    "meter",
    "meter-metrics",
    "meter-trace",
    "records",
    "records-arrow",
    "channel",
    "websocket",
    "window",
    "shared-worker",
    "service-worker",
    "extension",
    "remote",
    "offload",
    "offload-worker",
    ...nodeOnly,
  ]
    .map((name) => [name, here(`./src/${name}.ts`)])
    .filter(([, file]) => existsSync(file)),
);
const typesToo = !process.argv.includes("--js-only");

// Without minification, half of the text that a worker parses at its start is white space and comments.
const options = (host, plugins) => ({
  minifyWhitespace: true,
  minifySyntax: true,
  outdir: here(`./dist/${host}`),
  bundle: true,
  format: "esm",
  target: host === "node" ? "node20" : "es2022",
  platform: host === "node" ? "node" : "browser",
  alias: {
    "#host": here(`./src/host/${host}.ts`),
    "#meter-host": here(`./src/meter/host/${host}.ts`),
    "#serving": here(`./src/task/serving/${host}.ts`),
  },
  // Files of their own, which the package leaves out: they would be three quarters of it. A test needs them.
  sourcemap: "external",
  // Node prints the source line of an uncaught error. With a single line, it would print the whole library.
  lineLimit: 120,
  legalComments: "none",
  define: {
    hasProcesses: String(host === "node"),
    // The app's bundler decides. For browsers, esbuild would replace it by "development" here.
    "process.env.NODE_ENV": "process.env.NODE_ENV",
  },
  logLevel: "warning",
  external: ["apache-arrow", "ws"], // optional peers: apps with Arrow tables or a WebSocket server install them
  plugins,
});

// Keeps `import("./feed.js")` as an import of `./lazy-feed.js`, a file next to the entry. Adds the name and the source of that file to
// `modules`, so that it is built. See spec/decisions/rarely-needed-code-loads-later.md.
function lazyModules(modules) {
  return {
    name: "lazy modules",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) => {
        // `clearway/offload` uses the pools of the entry `clearway`, instead of a copy of them.
        if (kind === "import-statement" && join(resolveDir, path) === here("./src/index.js")) {
          return { path: "./index.js", external: true };
        }
        // `clearway/records/arrow` and the lazy modules for Arrow share the state of this module.
        const shared = join(resolveDir, path) === here("./src/records/arrow/load.js");
        if (kind !== "dynamic-import" && !shared) return undefined;
        const name = `lazy-${basename(path, ".js")}`;
        const source = join(resolveDir, path.replace(/\.js$/, ".ts"));
        const entry = Object.keys(entries).find((each) => entries[each] === source);
        if (entry) return { path: `./${entry}.js`, external: true };
        modules[name] ??= source;
        if (modules[name] !== source) throw new Error(`two lazy modules are called ${name}: ${source}`);
        return { path: `./${name}.js`, external: true };
      });
    },
  };
}

// Builds the files with which workers start that need a loader for TypeScript, or that are child processes. They are internal: the entry
// finds them beside itself.
async function buildStart(outExtension) {
  const entryPoints = {
    start: here("./src/start/start.ts"),
    child: here("./src/start/child.ts"),
    "typescript-hooks": here("./src/start/hooks-thread.ts"),
  };
  await build({ ...options("node", []), entryPoints, outExtension });
  copyFileSync(here("./src/start/probe.ts"), here("./dist/node/probe.ts"));
}

for (const host of ["node", "browser"]) {
  const modules = {};
  const ownEntries =
    host === "node"
      ? entries
      : Object.fromEntries(Object.entries(entries).filter(([name]) => !nodeOnly.includes(name)));
  const built = new Set();
  const plugins = [lazyModules(modules)];
  const { worker, "offload-worker": offloadWorker, ...others } = ownEntries;
  await build({ ...options(host, plugins), entryPoints: others });
  // Keeps the comments that tell bundlers not to follow the import of a task file.
  await build({ ...options(host, plugins), minifyWhitespace: false, entryPoints: { "offload-worker": offloadWorker } });
  // The extension .mjs tells Node that the file is an ES module. For .js, Node would first read the package.json of its package, which
  // takes 0.2 ms of every worker's start.
  const outExtension = host === "node" ? { ".js": ".mjs" } : {};
  await build({ ...options(host, plugins), entryPoints: { worker }, outExtension });
  if (host === "node") await buildStart(outExtension);
  // A lazy module may load further lazy modules.
  for (let left = ownEntries; Object.keys(left).length > 0; ) {
    left = Object.fromEntries(Object.entries(modules).filter(([name]) => !built.has(name)));
    for (const name of Object.keys(left)) built.add(name);
    // Most lazy modules keep their white space. esbuild then also keeps the comments that tell bundlers not to follow an import
    // (`pool/call/inline.ts`). Only `lazy-server` is minified, because a worker's first call may have to wait for it.
    const { "lazy-server": server, ...rest } = left;
    if (server) await build({ ...options(host, plugins), entryPoints: { "lazy-server": server } });
    await build({ ...options(host, plugins), minifyWhitespace: false, entryPoints: rest });
  }
  for (const name of readdirSync(here(`./dist/${host}`))) {
    if (name.startsWith("lazy-") && !built.has(name.split(".")[0])) rmSync(here(`./dist/${host}/${name}`));
  }
}

// The pages that messages name. They are in the package, so that a reader finds them without the network.
mkdirSync(here("./docs"), { recursive: true });
for (const page of [
  "docs/guide.md",
  "docs/records.md",
  "docs/meter.md",
  "docs/recipes.md",
  "docs/runs-with.md",
  "spec/errors.md",
])
  copyFileSync(here(`../../${page}`), here(`./docs/${basename(page)}`));

if (typesToo) {
  // Code that entries share gets files that are named after their contents. Files of earlier builds would therefore remain, and would look
  // like a part of the API.
  for (const name of readdirSync(here("./dist"))) if (name.endsWith(".d.ts")) rmSync(here(`./dist/${name}`));
  const bundle = await rollup({
    input: entries,
    plugins: [dts({ tsconfig: here("./tsconfig.json"), compilerOptions: { noEmit: false } })],
    external: [/^node:/, "apache-arrow"],
    onwarn: ({ code, message }) => {
      // `offload-worker` exports nothing. The check of the reference knows the types that are shared and not exported.
      if (code !== "EMPTY_BUNDLE" && !message.includes("private shared type exports")) console.warn(message);
    },
  });
  await bundle.write({ dir: here("./dist"), format: "es", chunkFileNames: "types-[name].d.ts" });
  await bundle.close();
}
