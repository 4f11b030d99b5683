// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of docs/runs-with.md for tools that run the app in Node.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeFolder, pack, removeFolder, root } from "../packaging/clean-folder.js";
import { commonJsApp, commonJsTypeScriptApp, javaScriptApp, strippedApp, typeScriptApp } from "./apps.js";
import { type App, installedTools, makeApp, otherNodes, readmeFences } from "./tools.js";

let folder: string;
let library: string;
const apps: App[] = [];

beforeAll(async () => {
  folder = await makeFolder();
  library = await pack("clearway", folder);
});
afterAll(() => removeFolder(folder));
afterEach(async () => {
  for (const app of apps.splice(0)) await removeFolder(app.folder);
});

async function app(files: Record<string, string>, packages?: Record<string, string>): Promise<App> {
  const made = await makeApp(library, files, packages);
  apps.push(made);
  return made;
}

const tools = installedTools();
const own = process.execPath;
const tool = (path: string): string => join(tools, path);
const typescript = join(root, "node_modules/typescript/bin/tsc");
const others = otherNodes();
const nodes = [own, others[22], others[24]].filter((each) => each !== undefined);
const strippers = nodes.filter((each) => each !== own);

test.each(Object.entries(others))("Node %s is installed for these tests", (version, path) => {
  const message = `without Node ${version}, its rows are not tested: npm install, then node scripts/runs-with.mjs`;
  expect(path, message).toBeDefined();
});

describe("tsc", () => {
  test("compiles the README's quick start with the configuration of `tsc --init`, and Node 20 runs it", async () => {
    const [tasks = "", first = ""] = await readmeFences("ts");
    const quick = await app({ "primes.tasks.ts": tasks, "first.ts": first });
    await quick.run(own, typescript, "--init");
    await quick.run(own, typescript);
    const stalls = /^78498 primes; ms stalled: [\d.]+ before, [\d.]+ after\n$/;
    for (const node of nodes) expect(await quick.run(node, "first.js")).toMatch(stalls);
  });
});

test("tsx runs TypeScript, as ES modules and as CommonJS", async () => {
  const modules = await app(typeScriptApp);
  expect(await modules.run(own, tool("tsx/dist/cli.mjs"), "main.ts")).toBe("15 red\n");
  for (const node of strippers) {
    expect(await modules.run(node, "--import", tool("tsx/dist/loader.mjs"), "main-ts.ts")).toBe("15 red\n");
  }
  const commonJs = await app(commonJsTypeScriptApp);
  expect(await commonJs.run(own, "--import", tool("tsx/dist/loader.mjs"), "main.ts")).toBe("15 red\n");
});

test.each(nodes)("ts-node runs TypeScript, as ES modules and as CommonJS, in %s", async (node) => {
  const config = (module: string, moduleResolution: string): string =>
    JSON.stringify({
      "ts-node": { transpileOnly: true },
      compilerOptions: { module, moduleResolution, target: "es2022", esModuleInterop: true },
    });
  const linked = { "ts-node": tool("ts-node"), typescript: tool("typescript") };
  const modules = await app({ ...typeScriptApp, "tsconfig.json": config("nodenext", "nodenext") }, linked);
  const register = 'import { register } from "node:module"; register("ts-node/esm", "file://" + process.cwd() + "/");';
  const esm = ["--no-deprecation", "--import", `data:text/javascript,${encodeURIComponent(register)}`];
  expect(await modules.run(node, ...esm, "main.ts")).toBe("15 red\n");
  const commonJs = await app({ ...commonJsTypeScriptApp, "tsconfig.json": config("commonjs", "node10") }, linked);
  expect(await commonJs.run(node, tool("ts-node/dist/bin.js"), "main.ts")).toBe("15 red\n");
});

describe.each(nodes)("%s", (node) => {
  test("runs CommonJS, without a warning", async () => {
    const commonJs = await app(commonJsApp);
    expect(await commonJs.run(node, "--throw-deprecation", "--trace-warnings", "main.js")).toBe("15 red\n");
  });

  test("imports every entry for server-side rendering, of both hosts, without side effects", async () => {
    const server = await app(
      {
        "imports.js": [
          'import { readFileSync } from "node:fs";',
          // The import of Node's own module has side effects in Node 22. That of the optional package may have some.
          'import "node:http"; import "apache-arrow";',
          // All files of the library share the first capture of the globals: src/globals.ts.
          "const keys = () => Reflect.ownKeys(globalThis).map(String).filter((key) => key !== 'Symbol(clearway.globals)');",
          // Requests are of Node's own module loader.
          "const resources = () => process.getActiveResourcesInfo().filter((name) => !/Req/.test(name));",
          "const state = () => JSON.stringify([keys(), resources()]);",
          "const before = state();",
          'const root = new URL("./node_modules/clearway/", import.meta.url);',
          'const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));',
          "let count = 0;",
          "for (const [entry, target] of Object.entries(exports)) {",
          // The module of workers: it defines where task files register.
          "  if (typeof target === 'string' || entry === './offload/worker') continue;",
          "  await import('clearway' + entry.slice(1));",
          "  await import(new URL(target.default, root));",
          "  count++;",
          "}",
          "console.log(count > 13, before === state());",
        ].join("\n"),
      },
      { "apache-arrow": join(root, "node_modules/apache-arrow") },
    );
    expect(await server.run(node, "imports.js")).toBe("true true\n");
  });
});

test.each(strippers)("%s runs TypeScript whose types it can strip", async (node) => {
  const stripped = await app(strippedApp);
  expect(await stripped.run(node, "--no-warnings", "main.ts")).toBe("15 red\n");
});

test("Node without a loader says which file it found, and prints no line of the library", async () => {
  const plain = await app({ ...typeScriptApp, "main.js": javaScriptApp["main.js"] });
  const noTypes = process.version.startsWith("v20.") ? [] : ["--no-experimental-strip-types"];
  const failure = await plain.run(own, ...noTypes, "main.js").catch((error: Error) => error.message);
  expect(failure).toContain(`there is no file ${plain.path("tally.tasks.js")}; found tally.tasks.ts beside it`);
  expect(failure).not.toContain("dist/node/index.js");
});

describe("Vitest", () => {
  const suite = [
    'import { pool } from "clearway";',
    'test.each(["ts", "js"])("the task module runs from its .%s URL", async (extension) => {',
    "  const tasks = pool<typeof import('./tally.tasks.js')>(new URL(`./tally.tasks.$" +
      "{extension}`, import.meta.url));",
    "  expect(await tasks.call.total([4, 5, 6])).toBe('15 red');",
    "  await tasks.close();",
    "});",
    'test("the task module can be tested without a worker", async () => {',
    "  const { default: tasks } = await import('./tally.tasks.js');",
    "  expect(tasks.total([1])).toBe('1 red');",
    "});",
  ].join("\n");

  test.each(["forks", "vmThreads"])("runs TypeScript in the pool %s", async (kind) => {
    const tested = await app(
      { ...typeScriptApp, "tally.test.ts": suite },
      { vitest: join(root, "node_modules/vitest") },
    );
    const args = ["run", "--root", tested.folder, "--globals", "--pool", kind, "--reporter", "json"];
    const output = await tested.run(own, join(root, "node_modules/vitest/vitest.mjs"), ...args);
    expect(JSON.parse(output)).toMatchObject({ success: true, numPassedTests: 3 });
  });
});

describe("Jest", () => {
  const closed = [
    'import { pool } from "clearway";',
    "const make = () => pool(new URL('./tally.tasks.js', import.meta.url));",
    'test("a pool runs tasks and closes", async () => {',
    "  const tasks = make();",
    "  expect(await tasks.call.total([4, 5, 6])).toBe('15 red');",
    "  await tasks.close();",
    "});",
  ].join("\n");
  const leftOpen = [
    'test("a pool may be left open", async () => {',
    "  expect(await make().call.total([1])).toBe('1 red');",
    "});",
    'test("a pool may be left at once", () => {',
    "  make();",
    "});",
  ].join("\n");

  /** Runs the suite in an app. Returns its report. */
  async function jest(files: Record<string, string>, packages: Record<string, string> = {}) {
    // Jest's own limit of 5 s would fail a test on a busy machine.
    const configuration = { testEnvironment: "node", transform: {}, testTimeout: 110_000 };
    const tested = await app(
      { ...files, "package.json": JSON.stringify({ name: "consumer", type: "module", jest: configuration }) },
      packages,
    );
    const report = tested.path("report.json");
    const args = ["--no-warnings", "--experimental-vm-modules", tool("jest/bin/jest.js"), "--ci", "--json", "--silent"];
    const output = await tested.outputOf(own, ...args, "--outputFile", report);
    expect(output).not.toMatch(/torn down|ReferenceError|did not exit/);
    const { success, numPassedTests, numRuntimeErrorTestSuites } = JSON.parse(await readFile(report, "utf8"));
    return { success, numPassedTests, numRuntimeErrorTestSuites };
  }

  test("runs ES modules; a pool that is left open neither throws nor loads anything after the tests", async () => {
    const report = await jest({ ...javaScriptApp, "tally.test.js": `${closed}\n${leftOpen}` });
    expect(report).toEqual({ success: true, numPassedTests: 3, numRuntimeErrorTestSuites: 0 });
  });

  test.each(["esbuild", "typescript"])("runs task modules of TypeScript where the app has %s", async (transformer) => {
    const path = transformer === "typescript" ? tool("typescript") : join(root, "node_modules/esbuild");
    const { "tally.tasks.ts": tasks, "sum.ts": sum } = typeScriptApp;
    const suites = { "js.test.js": closed, "ts.test.js": closed.replace("tally.tasks.js", "tally.tasks.ts") };
    const report = await jest({ "tally.tasks.ts": tasks, "sum.ts": sum, ...suites }, { [transformer]: path });
    expect(report).toEqual({ success: true, numPassedTests: 2, numRuntimeErrorTestSuites: 0 });
  });
});
