// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of docs/runs-with.md for bundlers. test/packaging has further tests of Vite and esbuild. Most of the apps do not have apache-arrow,
// and no bundler may warn of that.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { build as esbuild } from "esbuild";
import type { Browser } from "playwright-core";
import { type Plugin, rollup } from "rollup";
import { createLogger, createServer, build as vite } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch } from "../packaging/chromium.js";
import { makeFolder, pack, removeFolder, root } from "../packaging/clean-folder.js";
import { serve } from "../packaging/site.js";
import { allEntries, arrowPage, javaScriptApp, nextApp, page, pageMain, typeScriptApp } from "./apps.js";
import { type App, installedTools, makeApp } from "./tools.js";

let folder: string;
let library: string;
let tools: string;
let browser: Browser;
const apps: App[] = [];

beforeAll(async () => {
  folder = await makeFolder();
  tools = installedTools();
  [library, browser] = await Promise.all([pack("clearway", folder), launch()]);
});
afterAll(async () => {
  await browser?.close();
  for (const { folder } of apps) await removeFolder(folder);
  await removeFolder(folder);
});

async function app(files: Record<string, string>, packages?: Record<string, string>): Promise<App> {
  const made = await makeApp(library, files, packages);
  apps.push(made);
  return made;
}

/** Opens a page and returns its title, which is the result of a call. */
async function titleOf(url: string): Promise<string> {
  const tab = await browser.newPage();
  try {
    // The test has a time limit. A dev server may compile for long.
    await tab.goto(url, { timeout: 0 });
    await tab.waitForFunction(() => document.title !== "", undefined, { timeout: 0 });
    return await tab.title();
  } finally {
    await tab.close();
  }
}

const pageApp = { ...typeScriptApp, "page.js": pageMain("tally.tasks.ts"), "index.html": page("page.js") };

test("Vite serves an app in development", async () => {
  const made = await app(pageApp);
  const server = await createServer({
    root: made.folder,
    configFile: false,
    logLevel: "error",
    server: { host: "127.0.0.1", port: 0, ws: false },
  });
  try {
    await server.listen();
    expect(await titleOf(server.resolvedUrls?.local[0] ?? "")).toBe("15 red");
  } finally {
    await server.close();
  }
});

test("React runs the hook of docs/recipes-apps.md, and cancels the search for an older text", async () => {
  const names = ["use-search.js", "search.ts", "find.tasks.ts", "pauses.ts"];
  const sources = await Promise.all(
    names.map(async (name) => [name, await readFile(join(root, "examples/recipes/src", name), "utf8")]),
  );
  // In strict mode, React runs each effect twice. The title has all numbers of words that the component has shown.
  const main = [
    'import { createElement, StrictMode, useEffect, useState } from "react";',
    'import { createRoot } from "react-dom/client";',
    'import { useSearch } from "./use-search.js";',
    "const shown = [];",
    "function App() {",
    '  const [part, setPart] = useState("z");',
    "  const found = useSearch(part);",
    '  useEffect(() => setPart("zz"), []);',
    "  useEffect(() => { if (found) document.title = shown.push(found.length) && shown.join(); }, [found]);",
    "  return null;",
    "}",
    'createRoot(document.querySelector("div")).render(createElement(StrictMode, null, createElement(App)));',
  ].join("\n");
  const files = { ...Object.fromEntries(sources), "main.js": main, "index.html": `<div></div>${page("main.js")}` };
  const packages = Object.fromEntries(["react", "react-dom", "scheduler"].map((name) => [name, join(tools, name)]));
  const made = await app(files, packages);
  await vite({ root: made.folder, configFile: false, logLevel: "error", worker: { format: "es" } });
  await using served = await serve(made.path("dist"));
  expect(await titleOf(`${served.url}index.html`)).toBe("294");
});

interface Stats {
  toJson(options: object): { errors: { message: string }[]; warnings: { message: string }[] };
}
type DevServer = new (
  options: object,
  compiler: object,
) => { start(): Promise<void>; stop(): Promise<void>; server: { address(): { port: number } } };
type Webpack = (options: object, done: (error: Error | null, stats: Stats) => void) => void;

/** Runs webpack. Returns the errors and warnings. */
async function webpack(options: object): Promise<string[]> {
  const run = createRequire(join(tools, "none.js"))("webpack") as Webpack;
  const stats = await new Promise<Stats>((resolve, reject) =>
    run({ mode: "production", optimization: { minimize: false }, performance: false, ...options }, (error, result) =>
      error ? reject(error) : resolve(result),
    ),
  );
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  return [...errors, ...warnings].map(({ message }) => message);
}

describe("webpack 5", () => {
  test("bundles an app for pages, without a warning", async () => {
    const made = await app({ ...javaScriptApp, "page.js": pageMain("tally.tasks.js") });
    const site = made.path("site");
    const options = { context: made.folder, entry: "./page.js", output: { path: site } };
    expect(await webpack(options)).toEqual([]);
    await writeFile(join(site, "index.html"), page("main.js"));
    await using served = await serve(site);
    expect(await titleOf(`${served.url}index.html`)).toBe("15 red");
  });

  test("bundles an app for Node, without a warning", async () => {
    // webpack makes the Worker of worker_threads from this expression.
    const main = javaScriptApp["main.js"]
      .replace("(new URL", "(() => new Worker(new URL")
      .replace("url));", "url), { type: 'module' }));");
    const made = await app({ ...javaScriptApp, "main.js": main });
    const options = {
      target: "node20",
      context: made.folder,
      entry: "./main.js",
      output: { path: made.path("out"), module: true, filename: "[name].mjs", chunkFormat: "module" },
      experiments: { outputModule: true },
    };
    expect(await webpack(options)).toEqual([]);
    expect(await made.run(process.execPath, "out/main.mjs")).toBe("15 red\n");
  });

  test("serves a page in development with a cold cache, also if only the worker imports the entries", async () => {
    const { tasks, count } = allEntries(await readFile(join(root, "ts/clearway/package.json"), "utf8"), "total");
    const main = pageMain("tally.tasks.js").replace("title = text", "title = text.at(0).count");
    const made = await app({
      "page.js": main,
      "tally.tasks.js": tasks,
      "index.html": page("main.js", "text/javascript"),
    });
    const require = createRequire(join(tools, "none.js"));
    const compiler = (require("webpack") as (options: object) => object)({
      ...{ mode: "development", context: made.folder, entry: "./page.js", stats: "none" },
      cache: { type: "filesystem", cacheDirectory: made.path("cache") },
      infrastructureLogging: { level: "error" },
    });
    const options = { host: "127.0.0.1", port: 0, static: made.folder };
    const server = new (require("webpack-dev-server") as DevServer)(options, compiler);
    await server.start();
    try {
      const { port } = server.server.address();
      expect(await titleOf(`http://127.0.0.1:${port}/`)).toBe(count);
    } finally {
      await server.stop();
    }
  });
});

/** Bundles inputs for Node with Rollup. Returns the warnings. */
async function rollupForNode(made: App, input: Record<string, string>): Promise<string[]> {
  const { nodeResolve } = createRequire(join(tools, "none.js"))("@rollup/plugin-node-resolve") as {
    nodeResolve(options: object): Plugin;
  };
  const warnings: string[] = [];
  const bundle = await rollup({
    input,
    plugins: [nodeResolve({ exportConditions: ["node"], preferBuiltins: true })],
    external: [/^node:/],
    onwarn: ({ message }) => warnings.push(message),
  });
  await bundle.write({ dir: made.path("out"), format: "es" });
  await bundle.close();
  return warnings;
}

test("Rollup bundles an app for Node and its task module as two inputs, without a warning", async () => {
  const made = await app(javaScriptApp);
  const input = { main: made.path("main.js"), "tally.tasks": made.path("tally.tasks.js") };
  expect(await rollupForNode(made, input)).toEqual([]);
  expect(await made.run(process.execPath, "out/main.js")).toBe("15 red\n");
});

test("Next.js builds a page whose effect makes the pool", async () => {
  // Turbopack refuses packages outside the root of the project. The app is therefore in the folder that has the tools.
  const project = dirname(await realpath(tools));
  const made = await makeApp(library, nextApp(project), {}, await mkdtemp(join(project, "next-")));
  apps.push(made);
  await made.run("env", "NODE_ENV=production", process.execPath, join(tools, "next/dist/bin/next"), "build");
  await using served = await serve(made.path("out"));
  expect(await titleOf(`${served.url}index.html`)).toBe("15 red");
});

test("Next.js serves a page in development with a cold cache, also if only the worker imports the entries", async () => {
  const project = dirname(await realpath(tools));
  const files = nextApp(project);
  const { tasks, count } = allEntries(await readFile(join(root, "ts/clearway/package.json"), "utf8"), "total");
  files["app/tally.tasks.js"] = tasks;
  files["app/page.js"] = String(files["app/page.js"]).replace(
    ".then(setText",
    ".then((table) => setText(String(table.at(0).count))",
  );
  const made = await makeApp(library, files, {}, await mkdtemp(join(project, "next-")));
  apps.push(made);
  const args = [join(tools, "next/dist/bin/next"), "dev", "--hostname", "127.0.0.1", "--port", "0"];
  const env = { ...process.env, NODE_ENV: "development", NEXT_TELEMETRY_DISABLED: "1" } as const;
  const server = spawn(process.execPath, args, { cwd: made.folder, env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "close");
  try {
    let url: string | undefined;
    for await (const line of createInterface({ input: server.stdout })) {
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
      if (url !== undefined) break;
    }
    expect(await titleOf(url ?? "")).toBe(count);
  } finally {
    server.kill();
    await ended;
  }
});

describe("esbuild", () => {
  test("bundles an app for Node and its task module as two entries, without a warning", async () => {
    const made = await app(typeScriptApp);
    for (const format of ["esm", "cjs"] as const) {
      const outdir = made.path(format);
      const { warnings } = await esbuild({
        absWorkingDir: made.folder,
        entryPoints: format === "esm" ? ["main.ts", "tally.tasks.ts"] : ["tally.tasks.ts"],
        outdir,
        bundle: true,
        platform: "node",
        format,
        minify: true,
        logLevel: "silent",
        ...(format === "cjs" && { outExtension: { ".js": ".cjs" } }),
      });
      expect(warnings).toEqual([]);
    }
    expect(await made.run(process.execPath, "esm/main.js")).toBe("15 red\n");
    // The task module may also be CommonJS, and the main thread may use the library unbundled.
    await writeFile(
      made.path("mixed.mjs"),
      javaScriptApp["main.js"].replace("./tally.tasks.js", "./cjs/tally.tasks.cjs"),
    );
    expect(await made.run(process.execPath, "mixed.mjs")).toBe("15 red\n");
  });

  test("leaves the task module out of a bundle with one entry, and the error says what to write", async () => {
    const made = await app(typeScriptApp);
    const options = { absWorkingDir: made.folder, entryPoints: ["main.ts"], outdir: made.path("out"), bundle: true };
    await esbuild({ ...options, platform: "node", format: "esm", minify: true });
    const failure = await made.run(process.execPath, "out/main.js").catch((error: Error) => error.message);
    expect(failure).toContain(`there is no file ${made.path("out/tally.tasks.js")}`);
    expect(failure).toContain('() => new Worker(new URL("./tally.tasks.js", import.meta.url))');
    const longest = Math.max(
      ...String(failure)
        .split("\n")
        .map((line) => line.length),
    );
    expect(longest).toBeLessThan(400);
  });
});

describe("an app that converts a table to Arrow", () => {
  const packages = { "apache-arrow": join(root, "node_modules/apache-arrow") };
  const missing =
    'missing-package: Arrow tables need the package apache-arrow: npm install apache-arrow; a bundle also needs import "clearway/records/arrow"';

  /** Runs the app in a page. Returns the titles without and with the import of the entry. */
  async function titles(build: (made: App, site: string) => Promise<unknown>): Promise<string[]> {
    const found: string[] = [];
    for (const entry of ["", 'import "clearway/records/arrow";\n']) {
      const made = await app(
        { "arrow.js": `${entry}${arrowPage}`, "index.html": page("arrow.js") },
        entry ? packages : {},
      );
      expect(await build(made, made.path("site"))).toEqual([]);
      await using served = await serve(made.path("site"));
      found.push(await titleOf(`${served.url}index.html`));
    }
    return found;
  }

  test("has the package in webpack's bundle if it imports clearway/records/arrow, and else a typed error", async () => {
    const build = async (made: App, site: string) => {
      const warnings = await webpack({ context: made.folder, entry: "./arrow.js", output: { path: site } });
      await writeFile(join(site, "index.html"), page("main.js"));
      return warnings;
    };
    expect(await titles(build)).toEqual([missing, "2 rows"]);
  });

  test("has the package in Vite's bundle if it imports clearway/records/arrow, and else a typed error", async () => {
    const build = async (made: App, outDir: string) => {
      const warnings: string[] = [];
      const customLogger = createLogger("silent");
      customLogger.warn = (message) => warnings.push(message);
      const sizes = { chunkSizeWarningLimit: 10_000 };
      await vite({ root: made.folder, configFile: false, customLogger, build: { outDir, ...sizes } });
      return warnings;
    };
    expect(await titles(build)).toEqual([missing, "2 rows"]);
  });

  test("finds the package in Node, also from a bundle that Rollup made without it", async () => {
    const made = await app({ "arrow.js": arrowPage.replaceAll("document.title =", "globalThis.title =") }, packages);
    await writeFile(made.path("main.js"), 'await import("./arrow.js").then(({ done }) => done);\nconsole.log(title);');
    expect(await made.run(process.execPath, "main.js")).toBe("2 rows\n");
    expect(await rollupForNode(made, { main: made.path("main.js") })).toEqual([]);
    expect(await made.run(process.execPath, "out/main.js")).toBe("2 rows\n");
  });
});
