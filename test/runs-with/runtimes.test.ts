// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of docs/runs-with.md for runtimes other than Node.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeFolder, pack, removeFolder } from "../packaging/clean-folder.js";
import { javaScriptApp, strippedApp, typeScriptApp } from "./apps.js";
import { type App, installedTools, makeApp, runtimes } from "./tools.js";

let folder: string;
let library: string;
let tools: string;
const apps: App[] = [];

beforeAll(async () => {
  folder = await makeFolder();
  tools = installedTools();
  library = await pack("clearway", folder);
});
afterAll(() => removeFolder(folder));
afterEach(async () => {
  for (const app of apps.splice(0)) await removeFolder(app.folder);
});

async function app(files: Record<string, string>): Promise<App> {
  const made = await makeApp(library, files);
  apps.push(made);
  return made;
}

/** A task module that fails, streams and holds its thread, and a program that prints one line of JSON. */
const everyday = {
  "everyday.tasks.js": [
    'import { expose } from "clearway/worker";',
    "export default expose({",
    "  fail: () => { throw new RangeError('too far'); },",
    "  wait: () => new Promise(() => {}),",
    "  async *count(to) { for (let at = 1; at <= to; at++) yield at; },",
    "  length: (bytes) => bytes.length,",
    "});",
  ].join("\n"),
  "everyday.js": [
    'import { move, pool } from "clearway";',
    'import { formatReport, watch } from "clearway/meter";',
    "const watching = watch();",
    'const tasks = pool(new URL("./everyday.tasks.js", import.meta.url));',
    "const failed = await tasks.call.fail().catch((error) => [error.name, error.message]);",
    "const late = await tasks.with({ timeoutMs: 50 }).call.wait().catch(({ code }) => code);",
    "const counted = [];",
    "for await (const each of tasks.call.count(40)) counted.push(each);",
    "const bytes = new Uint8Array(100_000);",
    "const length = await tasks.call.length(move(bytes));",
    "await tasks.close();",
    "watching.stop();",
    "const report = watching.report();",
    "const wrong = [];",
    "JSON.stringify(report, (key, value) => (Number.isNaN(value) && wrong.push(key), value));",
    "const readable = !/NaN|undefined/.test(formatReport(report));",
    "const sum = counted.reduce((all, each) => all + each);",
    "console.log(JSON.stringify({ failed, late, sum, length, left: bytes.length, wrong, readable }));",
  ].join("\n"),
};

const answers = {
  failed: ["RangeError", "too far"],
  late: "timeout",
  sum: 820,
  length: 100_000,
  left: 0,
  wrong: [],
  readable: true,
};

describe.each([
  { name: "Bun", ...runtimes.Bun, typeScript: typeScriptApp, programs: ["main.ts", "main-ts.ts"] },
  { name: "Deno", ...runtimes.Deno, typeScript: strippedApp, programs: ["main.ts"] },
])("$name", ({ path, args, typeScript, programs }) => {
  const start = async (made: App, file: string): Promise<string> => {
    const program = join(tools, path);
    if (!existsSync(program)) throw new Error(`this system has no ${path}: remove its row from the page, or add it`);
    return made.run(program, ...args, file);
  };

  test("runs TypeScript", async () => {
    const made = await app(typeScript);
    for (const program of programs) expect(await start(made, program)).toBe("15 red\n");
  });

  test("runs JavaScript", async () => {
    expect(await start(await app(javaScriptApp), "main.js")).toBe("15 red\n");
  });

  test("reports errors and timeouts, moves memory, reads a stream, and runs the meter", async () => {
    expect(JSON.parse(await start(await app(everyday), "everyday.js"))).toEqual(answers);
  });
});
