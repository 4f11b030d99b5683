// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds `dist/`: one ESM file per entry and host (Node, browser), and one bundled .d.ts per entry. Each entry is one file, because each file
// that a worker imports delays its start by a fraction of a millisecond. Two files may therefore contain copies of one class. Each copy
// recognizes the other's instances by a brand. In browsers, some code is in files that load later: see `late`.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { declarations } from "../../scripts/declarations.mjs";

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

// What a dynamic import in the source loads: a file next to the entry. In Node, `import()` of any other module is a part of the entry's file.
// Their names say `clearway`, so that a reader of a bundle's chunks knows where they come from.
// See spec/decisions/a-page-loads-the-library-in-two-files.md.
const late = {
  "clearway-rest": here("./src/pool/lifecycle/lifecycle.ts"),
  "clearway-channel-ring": here("./src/channel/transport/channel-ring-port.ts"),
  "clearway-arrow": here("./src/records/arrow/arrow.ts"),
};

// In browsers, the file of the entry `clearway/records` is also a chunk of its own in a bundle.
const fileOf = (name, host) => (name === "records" && host === "browser" ? "clearway-records" : name);

// Leaves imports of these files, and of entries, as they are.
function apart(names, host) {
  const files = { ...entries, ...Object.fromEntries(names.map((name) => [name, late[name]])) };
  return {
    name: "files apart",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) => {
        const source = join(resolveDir, path.replace(/\.js$/, ".ts"));
        const name = Object.keys(files).find((each) => files[each] === source);
        // `clearway/offload` uses the pools of the entry `clearway`, instead of a copy of them. Both entries of records share `clearway-arrow`.
        const shared = name === "index" || name === "clearway-arrow";
        return name && (shared || kind === "dynamic-import")
          ? { path: `./${fileOf(name, host)}.js`, external: true }
          : undefined;
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
    "typescript-hooks": here("./src/start/typescript-hooks.ts"),
  };
  await bundle({ ...options("node", []), entryPoints, outExtension });
  copyFileSync(here("./src/start/probe.ts"), here("./dist/node/probe.ts"));
}

/** The files that this build has written, with their folders. */
const written = new Set(["node/probe.ts"]);

async function bundle(buildOptions) {
  const { metafile } = await build({ ...buildOptions, metafile: true });
  for (const file of Object.keys(metafile.outputs)) written.add(file.split("/").slice(-2).join("/"));
}

for (const host of ["node", "browser"]) {
  const {
    index,
    worker,
    "offload-worker": offloadWorker,
    ...others
  } = Object.fromEntries(Object.entries(entries).filter(([name]) => host === "node" || !nodeOnly.includes(name)));
  const alone = host === "node" ? ["clearway-arrow"] : ["clearway-arrow", "clearway-channel-ring"];
  const plugins = [apart(alone, host)];
  const entryPoints = Object.fromEntries(Object.entries(others).map(([name, file]) => [fileOf(name, host), file]));
  await bundle({ ...options(host, plugins), entryPoints });
  // These files keep the comments that tell bundlers not to follow an import of a task file.
  const readable = { ...options(host, plugins), minifyWhitespace: false };
  await bundle({ ...readable, entryPoints: { "offload-worker": offloadWorker } });
  await bundle({ ...readable, entryPoints: Object.fromEntries(alone.map((name) => [name, late[name]])) });
  const rest = { "clearway-rest": late["clearway-rest"] };
  // In browsers, the entry and the rest share `clearway-core.js`, so that a page loads nothing twice.
  const parts = { entryPoints: { index, ...rest }, splitting: true, chunkNames: "clearway-core" };
  await bundle({ ...readable, ...(host === "node" ? { entryPoints: { index } } : parts) });
  // The extension .mjs tells Node that the file is an ES module. For .js, Node would first read the package.json of its package, which
  // takes 0.2 ms of every worker's start.
  const outExtension = host === "node" ? { ".js": ".mjs" } : {};
  await bundle({ ...options(host, plugins), entryPoints: { worker }, outExtension });
  if (host === "node") await buildStart(outExtension);
}
// Files of earlier builds would be packed, too.
for (const host of ["node", "browser"])
  for (const name of readdirSync(here(`./dist/${host}`)))
    if (!written.has(`${host}/${name}`)) rmSync(here(`./dist/${host}/${name}`));

// The pages that messages name. They are in the package, so that a reader finds them without the network.
mkdirSync(here("./docs"), { recursive: true });
for (const page of [
  "docs/guide.md",
  "docs/guarantees.md",
  "docs/records.md",
  "docs/meter.md",
  "docs/recipes.md",
  "docs/recipes-apps.md",
  "docs/recipes-pools.md",
  "docs/recipes-streams.md",
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
  await bundle.write({
    dir: here("./dist"),
    format: "es",
    chunkFileNames: "types-[name].d.ts",
    plugins: [declarations],
  });
  await bundle.close();
}
