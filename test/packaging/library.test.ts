// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build as esbuild } from "esbuild";
import type { Browser } from "playwright-core";
import { build as vite } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { node24 } from "../../scripts/node24.mjs";
import { launch } from "./chromium.js";
import { copyApp, install, makeFolder, pack, removeFolder, root, runProgram } from "./clean-folder.js";
import { serve } from "./site.js";

const expected = {
  sum: 5,
  raised: [2, 3, 4],
  bytesLeftWithTheSender: 0,
  counted: true,
  progress: ["counting"],
  refusal: "RangeError: no entry here (a rule)",
  entries: ["ledger 1, entry 1", "ledger 1, entry 2"],
  measured: 9,
  timed: 2,
  late: "string",
};

const compiler = (moduleResolution: "nodenext" | "bundler", more: object) => ({
  compilerOptions: {
    target: "es2022",
    lib: ["es2023", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
    module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: [],
    ...more,
  },
  include: ["*.ts"],
});

let folder: string;
const typescript = async (name: string, config: object) => {
  await writeFile(join(folder, name), JSON.stringify(config));
  return runProgram(folder, process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", name);
};

beforeAll(async () => {
  folder = await makeFolder();
  await install([await pack("clearway", folder)], folder);
  await copyApp(folder);
});
afterAll(() => removeFolder(folder));

describe("the packed library", () => {
  test("contains its code, types, licences and the pages that messages name, and no development files", async () => {
    const packed = join(folder, "node_modules/clearway");
    const names = (await readdir(packed)).sort();
    expect(names).toEqual([
      "LICENSE",
      "LICENSE-APACHE",
      "LICENSE-MIT",
      "README.md",
      "bin",
      "dist",
      "docs",
      "package.json",
    ]);
    const files = (await readdir(packed, { recursive: true })).filter((name) => name.endsWith(".map"));
    expect(files).toEqual([]);
    expect(await readdir(join(folder, "node_modules"))).toEqual(
      expect.not.arrayContaining(["comlink", "vitest", "typescript"]),
    );
  });

  test("has the pages that its messages and the lab's name", async () => {
    const messages = ["clearway/dist/node", "clearway-lab/dist"].map(async (folder) => {
      const path = join(root, "ts", folder);
      const files = (await readdir(path)).filter((name) => /\.m?js$/.test(name));
      return (await Promise.all(files.map((name) => readFile(join(path, name), "utf8")))).join("\n");
    });
    const named = (await Promise.all(messages)).join("\n").matchAll(/docs\/([a-z-]+\.md)[#)]/g);
    const pages = new Set([...named].map(([, page]) => page));
    expect(pages.size).toBeGreaterThan(3);
    const packed = await readdir(join(folder, "node_modules/clearway/docs"));
    expect([...pages].filter((page) => !packed.includes(page!))).toEqual([]);
  });

  test("type-checks in consumers with the module resolution of Node and of bundlers", async () => {
    await typescript("tsconfig.json", compiler("nodenext", { noEmit: true }));
    await typescript("tsconfig.bundler.json", compiler("bundler", { noEmit: true }));
  });

  test("type-checks in an app with the types of ES2022 and without optional packages", async () => {
    const entries = ["", "/worker", "/records", "/channel", "/meter", "/meter/metrics", "/remote", "/offload"];
    const text = entries.map((entry, at) => `export * as entry${at} from "clearway${entry}";`).join("\n");
    await writeFile(join(folder, "plain.mts"), text);
    const config = compiler("nodenext", { noEmit: true, lib: ["es2022", "dom"] });
    await typescript("tsconfig.plain.json", { ...config, include: ["plain.mts"] });
  });

  test("refuses a wrong task name and a wrong argument at compile time", async () => {
    const module = 'pool<typeof import("../tally.tasks.js")>(new URL("file:///x"))';
    const lines = [
      'import { pool } from "clearway";',
      `const p = ${module};`,
      "p.call.subtract(1, 2);",
      'p.call.add("1", 2);',
    ];
    await mkdir(join(folder, "wrong"));
    await writeFile(join(folder, "wrong/wrong.ts"), lines.join("\n"));
    const config = { ...compiler("nodenext", { noEmit: true }), include: ["wrong/*.ts"] };
    const failure = await typescript("tsconfig.wrong.json", config).catch((error: Error) => error.message);
    const errors = String(failure)
      .split("\n")
      .filter((line) => line.includes("error TS"));
    expect(errors).toEqual([
      expect.stringMatching(/^wrong\/wrong\.ts\(3,.*'subtract' does not exist/),
      expect.stringMatching(/^wrong\/wrong\.ts\(4,.*'string' is not assignable to .*number/),
    ]);
  });

  test("connects a channel to a child process, and names the package that a WebSocket server needs", async () => {
    expect(JSON.parse(await runProgram(folder, process.execPath, "channels.mjs"))).toEqual({
      sum: 42,
      code: "missing-package",
      message: "channels over WebSockets are served by the package ws: npm install ws",
      client: "function",
    });
  });

  test("prints an uncaught error with short lines of its own code", async () => {
    await writeFile(
      join(folder, "uncaught.mjs"),
      'import { pool } from "clearway";\npool(new URL("./x.mjs", import.meta.url), { size: -1 });\n',
    );
    const told = await runProgram(folder, process.execPath, "uncaught.mjs").catch((error: Error) => error.message);
    expect(told).toContain('size must be "cpu" or a whole number from 1 to 1024: size=-1');
    expect(told).toMatch(/uncaught\.mjs:2/);
    const longest = Math.max(
      ...String(told)
        .split("\n")
        .map((line) => line.length),
    );
    expect(longest).toBeLessThan(400);
  });

  describe("compiled with its consumer", () => {
    beforeAll(() => typescript("tsconfig.emit.json", compiler("nodenext", { outDir: "out" })));

    const programs: [string, string | undefined][] = [
      ["the machine's Node", process.execPath],
      ["Node 24", node24()],
    ];
    test.each(programs.filter(([, program]) => program))("runs in %s", async (_, program) => {
      const output = await runProgram(folder, program ?? "", "out/node.js");
      expect(JSON.parse(output)).toEqual({ ...expected, once: 42 });
    });
  });
});

describe("an app with the packed library, in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  async function outcomeOf(site: string, page: string): Promise<unknown> {
    await using served = await serve(site);
    const tab = await browser.newPage();
    const errors: string[] = [];
    tab.on("pageerror", (error) => errors.push(String(error)));
    await tab.goto(`${served.url}${page}`);
    await tab.waitForFunction(() => document.title === "done").catch((error: Error) => errors.push(error.message));
    const text = await tab.textContent("body");
    await tab.close();
    expect(errors).toEqual([]);
    return JSON.parse(text ?? "");
  }

  async function scripts(site: string): Promise<string> {
    const names = (await readdir(site, { recursive: true })).filter((name) => name.endsWith(".js"));
    return (await Promise.all(names.map((name) => readFile(join(site, name), "utf8")))).join("\n");
  }

  // Vite's default for worker.format is "iife". It bundles a worker's dynamic imports into the worker's file.
  test.each([undefined, "es"] as const)(
    "works when built by Vite with worker.format %s, also inside a worker",
    async (format) => {
      const site = join(folder, `built-by-vite-${format}`);
      const pages = ["vite.html", "nested.html"];
      await vite({
        root: folder,
        base: "./",
        configFile: false,
        logLevel: "error",
        ...(format && { worker: { format } }),
        build: { outDir: site, rollupOptions: { input: pages.map((page) => join(folder, page)) } },
      });
      expect(await scripts(site)).not.toContain("worker_threads");
      // Chunks that a reader of the build did not write are named after the library.
      const chunks = await readdir(join(site, "assets"));
      for (const late of ["rest", "records"])
        expect(chunks).toContainEqual(expect.stringMatching(`^clearway-${late}-`));
      expect(chunks).not.toContainEqual(expect.stringMatching(/^(records|lifecycle)-/));
      for (const page of pages) expect(await outcomeOf(site, page)).toEqual(expected);
    },
  );

  test("works when bundled by esbuild", async () => {
    const site = join(folder, "built-by-esbuild");
    const entryPoints = ["esbuild.ts", "tally.tasks.ts"].map((name) => join(folder, name));
    await esbuild({ absWorkingDir: folder, entryPoints, outdir: site, bundle: true, format: "esm", minify: true });
    await writeFile(join(site, "esbuild.html"), await readFile(join(folder, "esbuild.html")));
    expect(await scripts(site)).not.toContain("worker_threads");
    expect(await outcomeOf(site, "esbuild.html")).toEqual(expected);
  });
});
