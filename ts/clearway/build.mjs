// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds `dist/`: one ESM file per entry and host (Node, browser), one per module that an entry loads lazily, and one bundled .d.ts per
// entry. Each file that a worker imports delays its start by a fraction of a millisecond, hence one file per entry. A class that two files
// contain recognizes the other's instances by a brand.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// What a browser cannot do has no file for it.
const nodeOnly = ["stdio", "websocket-server"];
const entries = Object.fromEntries(
  ["index", "worker", "meter", "records", "channel", "websocket", ...nodeOnly]
    .map((name) => [name, here(`./src/${name}.ts`)])
    .filter(([, file]) => existsSync(file)),
);
const typesToo = !process.argv.includes("--js-only");

// White space and comments are half of what a worker parses at its start; the source maps have the sources.
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
  sourcemap: true,
  // Node prints the source line of an uncaught error. With a single line, it would print the whole library.
  lineLimit: 120,
  legalComments: "none",
  logLevel: "warning",
  external: ["apache-arrow", "ws"], // optional peers: apps with Arrow tables or a WebSocket server install them
  plugins,
});

// `import("./feed.js")` stays an import, of `./lazy-feed.js` beside the entry; `modules` learns what to build there.
// spec/decisions/rarely-needed-code-loads-later.md
function lazyModules(modules) {
  return {
    name: "lazy modules",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
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

for (const host of ["node", "browser"]) {
  const modules = {};
  const ownEntries =
    host === "node"
      ? entries
      : Object.fromEntries(Object.entries(entries).filter(([name]) => !nodeOnly.includes(name)));
  const built = new Set();
  const plugins = [lazyModules(modules)];
  const { worker, ...others } = ownEntries;
  await build({ ...options(host, plugins), entryPoints: others });
  // By that name Node knows what it is without looking for the package that it belongs to: 0.2 ms of every worker's start.
  const outExtension = host === "node" ? { ".js": ".mjs" } : {};
  await build({ ...options(host, plugins), entryPoints: { worker }, outExtension });
  // A lazy module may load further lazy modules.
  for (let left = ownEntries; Object.keys(left).length > 0; ) {
    left = Object.fromEntries(Object.entries(modules).filter(([name]) => !built.has(name)));
    for (const name of Object.keys(left)) built.add(name);
    // White space stays, and with it the comments by which bundlers leave an import alone (`placement/placer.ts`).
    // A worker's start waits for what serves calls, where its first call cannot do without.
    const { "lazy-server": server, ...rest } = left;
    if (server) await build({ ...options(host, plugins), entryPoints: { "lazy-server": server } });
    await build({ ...options(host, plugins), minifyWhitespace: false, entryPoints: rest });
  }
  for (const name of readdirSync(here(`./dist/${host}`))) {
    if (name.startsWith("lazy-") && !built.has(name.split(".")[0])) rmSync(here(`./dist/${host}/${name}`));
  }
}

if (typesToo) {
  // What entries share has files that are named after what is in them: those of another day would look like the API's.
  for (const name of readdirSync(here("./dist"))) if (name.endsWith(".d.ts")) rmSync(here(`./dist/${name}`));
  const bundle = await rollup({
    input: entries,
    plugins: [dts({ tsconfig: here("./tsconfig.json"), compilerOptions: { noEmit: false } })],
    external: [/^node:/, "apache-arrow"],
    onwarn: (warning) => console.warn(warning.message),
  });
  await bundle.write({ dir: here("./dist"), format: "es", chunkFileNames: "types-[name].d.ts" });
  await bundle.close();
}
