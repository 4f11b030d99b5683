// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds an app that offloads functions with the packed packages `clearway` and `clearway-build`, and runs it in Node and in Chromium.
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as esbuild, transform } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { type Plugin as RollupPlugin, rollup } from "rollup";
import { createServer, build as vite } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import webpack, { type Configuration, type Stats } from "webpack";
import { launch } from "./chromium.js";
import { makeFolder, pack, removeFolder, root, runProgram, unpack } from "./clean-folder.js";
import { serve } from "./site.js";

const expected = {
  counted: 21,
  looped: [10, 20, 30],
  streamed: [0, 2, 4],
  nested: 16,
  lazy: "loaded later",
  failed: "RangeError: not 10",
  loadedHere: 0,
};

let folder: string;
let plugins: Record<"vite" | "rollup" | "esbuild" | "webpack", () => never>;

beforeAll(async () => {
  folder = await makeFolder();
  await unpack(await pack("clearway", folder), "clearway", folder, []);
  const build = await unpack(await pack("clearway-build", folder), "clearway-build", folder, ["clearway"]);
  // The app has installed Vite. The plugin builds with the app's copy.
  await symlink(join(root, "node_modules/vite"), join(folder, "node_modules/vite"));
  const load = async (name: string) => (await import(join(build, `dist/${name}.js`))).default;
  plugins = {
    vite: await load("vite"),
    rollup: await load("rollup"),
    esbuild: await load("esbuild"),
    webpack: await load("webpack"),
  };
  await cp(fileURLToPath(new URL("./offload", import.meta.url)), folder, { recursive: true });
});
afterAll(() => removeFolder(folder));

describe("an app with offloaded functions, in Node", () => {
  const program = async (file: string, ...args: string[]) => runProgram(folder, process.execPath, ...args, file);

  test("works when bundled by esbuild, with the library in the bundle and outside of it", async () => {
    for (const packages of ["bundle", "external"] as const) {
      const outdir = join(folder, `esbuild-${packages}`);
      await esbuild({
        absWorkingDir: folder,
        entryPoints: ["node.ts", "stack.ts"],
        outdir,
        bundle: true,
        format: "esm",
        platform: "node",
        packages,
        sourcemap: true,
        logLevel: "error",
        plugins: [plugins.esbuild()],
      });
      expect(JSON.parse(await program(join(outdir, "node.js")))).toEqual(expected);
      const stack = await program(join(outdir, "stack.js"), "--enable-source-maps");
      expect(stack).toMatch(/Error: captured\n.*stack\.ts:6:30/);
    }
  });

  const typescript: RollupPlugin = {
    name: "typescript",
    async transform(code, id) {
      return id.endsWith(".ts") ? transform(code, { loader: "ts", sourcemap: true, sourcefile: id }) : undefined;
    },
    resolveId: (id, importer) =>
      importer && /^\.\/.*\.js$/.test(id) && !importer.includes("node_modules")
        ? join(folder, id.replace(/\.js$/, ".ts"))
        : undefined,
  };
  const library: RollupPlugin = {
    name: "library",
    resolveId: (id) =>
      /^clearway\//.test(id)
        ? join(folder, "node_modules/clearway/dist/node", `${id.slice(9).replace("/", "-")}.js`)
        : undefined,
  };

  test.each(["before", "after"])("works when bundled by Rollup, with the plugin %s the compiler", async (order) => {
    const outer = order === "before" ? [library] : [];
    const both = order === "before" ? [plugins.rollup(), typescript] : [typescript, plugins.rollup()];
    const bundle = await rollup({
      input: join(folder, "node.ts"),
      plugins: [...outer, ...both],
      external: order === "before" ? [/^node:/, "ws"] : [/^node:/, /^clearway/],
      onwarn: () => {},
    });
    const dir = join(folder, `rollup-${order}`);
    await bundle.write({ dir, format: "es", sourcemap: true });
    await bundle.close();
    expect(JSON.parse(await program(join(dir, "node.js")))).toEqual(expected);
  });

  test("works when Vite builds it for a server", async () => {
    const outDir = join(folder, "vite-ssr");
    await vite({
      root: folder,
      configFile: false,
      logLevel: "error",
      plugins: [plugins.vite()],
      build: { ssr: "node.ts", outDir, target: "node20" },
    });
    expect(JSON.parse(await program(join(outDir, "node.js")))).toEqual(expected);
  });
});

describe("an app with offloaded functions, in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  async function open(address: string): Promise<{ page: Page; errors: string[] }> {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(address);
    return { page, errors };
  }

  const outcomeOf = async (page: Page) => {
    await page.waitForFunction(() => document.title === "done");
    return JSON.parse((await page.textContent("body")) ?? "");
  };

  async function check(site: string): Promise<void> {
    await using served = await serve(site);
    const { page, errors } = await open(`${served.url}page.html`);
    expect(await outcomeOf(page)).toEqual(expected);
    expect(errors).toEqual([]);
    await page.close();
  }

  test.each([undefined, "es"] as const)("works when built by Vite with worker.format %s", async (format) => {
    const outDir = join(folder, `vite-${format}`);
    await vite({
      root: folder,
      base: "./",
      configFile: false,
      logLevel: "error",
      plugins: [plugins.vite()],
      ...(format && { worker: { format } }),
      build: { outDir, rolldownOptions: { input: join(folder, "page.html") } },
    });
    await check(outDir);
  });

  test("works when bundled by esbuild", async () => {
    const outdir = join(folder, "esbuild-browser");
    await esbuild({
      absWorkingDir: folder,
      entryPoints: ["page.ts"],
      outdir,
      bundle: true,
      format: "esm",
      minify: true,
      logLevel: "error",
      plugins: [plugins.esbuild()],
    });
    const page = await readFile(join(folder, "page.html"), "utf8");
    await writeFile(join(outdir, "page.html"), page.replace("page.ts", "page.js"));
    expect((await readdir(outdir)).filter((name) => name.endsWith(".js")).length).toBeGreaterThan(2);
    await check(outdir);
  });

  test("works when bundled by webpack, which reports a refusal with its frame", async () => {
    await writeFile(
      join(folder, "typescript-loader.mjs"),
      `import { transformSync } from ${JSON.stringify(import.meta.resolve("esbuild"))};
      export default (source) => transformSync(source, { loader: "ts" }).code;`,
    );
    const output = join(folder, "webpack");
    const compile = (entry: string) =>
      new Promise<Stats>((resolve, reject) => {
        const options: Configuration = {
          mode: "production",
          devtool: false,
          context: folder,
          entry,
          output: { path: output, filename: "page.js" },
          optimization: { minimize: false },
          resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
          module: { rules: [{ test: /\.ts$/, use: join(folder, "typescript-loader.mjs") }] },
          plugins: [plugins.webpack()],
        };
        webpack(options, (error, stats) => (stats ? resolve(stats) : reject(error)));
      });
    expect((await compile("./page.ts")).toJson({ all: false, errors: true }).errors).toEqual([]);
    const page = await readFile(join(folder, "page.html"), "utf8");
    await writeFile(join(output, "page.html"), page.replace("page.ts", "page.js"));
    await check(output);

    await writeFile(
      join(folder, "wrong.ts"),
      'import { offload } from "clearway/offload";\nlet n = 0;\noffload(() => n++);\n',
    );
    const [error, ...others] = (await compile("./wrong.ts")).toJson({ all: false, errors: true }).errors ?? [];
    expect(error?.message).toMatch(/wrong\.ts:3:15: an offloaded function has a copy of `n`/);
    expect(error?.message).toContain("3 | offload(() => n++);\n  |               ^");
    expect(others).toEqual([]);
  });

  test("works in Vite's dev server, shows a refusal there, and runs the changed function after an edit", async () => {
    const app = join(folder, "dev");
    await mkdir(app);
    for (const name of ["functions.ts", "primes.ts", "later.ts", "page.ts", "page.html"])
      await cp(join(folder, name), join(app, name));
    const server = await createServer({
      root: app,
      configFile: false,
      logLevel: "silent",
      cacheDir: join(folder, "vite-cache"),
      plugins: [plugins.vite()],
      server: { host: "127.0.0.1", port: 0 },
    });
    try {
      await server.listen();
      const address = `${server.resolvedUrls?.local[0]}page.html`;
      const { page, errors } = await open(address);
      expect(await outcomeOf(page)).toEqual(expected);
      const source = await readFile(join(app, "functions.ts"), "utf8");

      const edited = page.waitForEvent("load");
      await writeFile(join(app, "functions.ts"), source.replace("factor * from", "factor * from + 1"));
      await edited;
      expect(await outcomeOf(page)).toEqual({ ...expected, looped: [11, 21, 31] });
      expect(errors).toEqual([]);

      await writeFile(join(app, "functions.ts"), source.replace("factor * from", "(looped as unknown) = factor"));
      const overlay = page.locator("vite-error-overlay");
      await overlay.waitFor();
      const text = await overlay.evaluate((element) => element.shadowRoot?.textContent ?? "");
      expect(text).toContain("an offloaded function has a copy of `looped` and cannot assign to it");
      expect(text).toMatch(/functions\.ts:\d+:\d+/);
      await page.close();
    } finally {
      await server.close();
    }
  });
});

test("Vitest's server runs offloaded functions of a module under test", async () => {
  const suite = join(folder, "suite");
  await mkdir(suite);
  for (const name of ["functions.ts", "primes.ts", "later.ts"]) await cp(join(folder, name), join(suite, name));
  const server = await createServer({
    root: suite,
    configFile: false,
    logLevel: "silent",
    cacheDir: join(folder, "vite-cache-server"),
    plugins: [plugins.vite()],
    server: { middlewareMode: true, ws: false },
  });
  try {
    // Vitest and servers that render pages load modules in this way.
    const { exercise } = await server.ssrLoadModule("/functions.ts");
    expect(await exercise()).toEqual(expected);
  } finally {
    await server.close();
    await rm(suite, { recursive: true });
  }
});

test("the packed plugin contains its code, types and licences", async () => {
  const names = (await readdir(join(folder, "node_modules/clearway-build"))).sort();
  expect(names).toEqual(["LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "dist", "package.json"]);
});
