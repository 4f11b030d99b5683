// SPDX-License-Identifier: MIT OR Apache-2.0
// The packages of the built command: which it contains, with their licences; which it loads before it knows what to do; and which it asks for
// in an app that has only the packages that the lab depends on.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { has } from "../../../scripts/browsers/engines.mjs";
import { BuiltCli, builtLab, here } from "./built-cli.js";

const cli = new BuiltCli();
afterAll(() => cli.remove());

// The licences of other projects ask that their texts are in every copy of their code.

describe("the licence text of other code", () => {
  test("is in the built folder, for each package in the bundles", () => {
    const texts = readFileSync(path.join(path.dirname(cli.program), "THIRD-PARTY-LICENSES.txt"), "utf8");
    // Node loads all but Comlink from their own packages. The bundles for pages have the others, too.
    expect([...texts.matchAll(/^=== (\S+)/gm)].map(([, name]) => name)).toEqual([
      ...["cbor-x", "comlink", "msgpackr", "piscina", "poolifier", "rxjs", "tinypool", "tslib", "workerpool"],
    ]);
    expect(texts).toContain(readFileSync(here("../../../node_modules/comlink/LICENSE"), "utf8").trim());
  });
});

// Which packages the command loads before it knows what to do. Each start of the command pays for them.

describe("the start of the command", () => {
  test("loads neither the report nor the compared libraries, which take half a second", () => {
    const dist = path.dirname(cli.program);
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(file, "utf8");
      for (const [, name = ""] of text.matchAll(/^(?:import|export)\b[^;]*?"([^"]+)";$/gm)) {
        if (name.startsWith(".")) visit(path.join(dist, name));
        else if (!name.startsWith("node:")) packages.add(name);
      }
    };
    visit(cli.program);
    expect(seen.size).toBeGreaterThan(5);
    expect([...packages].sort()).toEqual([
      "ajv/dist/2020.js",
      "clearway/worker",
      "cli-progress",
      "commander",
      "hdr-histogram-js",
      "leven",
    ]);
  });
});

// The lab in an app that has only the packages that the lab depends on: what works without more, and what the other commands ask for.

const root = fileURLToPath(new URL("../../..", import.meta.url));
const app = mkdtempSync(path.join(tmpdir(), "clearway-light-"));
const lab = path.join(app, "node_modules/clearway-lab");
const manifest = JSON.parse(readFileSync(path.join(root, "ts/clearway-lab/package.json"), "utf8"));
const installs = (name: string) =>
  `${name} is not installed: npm install --save-dev ${name}@${manifest.devDependencies[name]}`;

beforeAll(() => {
  writeFileSync(path.join(app, "package.json"), JSON.stringify({ private: true, type: "commonjs" }));
  for (const name of ["package.json", "templates"])
    cpSync(path.join(root, "ts/clearway-lab", name), path.join(lab, name), { recursive: true });
  cpSync(builtLab(), path.join(lab, "dist"), { recursive: true });
  for (const name of Object.keys(manifest.dependencies).filter((each) => each !== "clearway")) {
    const link = path.join(app, "node_modules", name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(root, "node_modules", name), link);
  }
  // A copy: from a link, the command would find the repository's lab.
  for (const name of ["package.json", "bin", "dist"])
    cpSync(path.join(root, "ts/clearway", name), path.join(app, "node_modules/clearway", name), {
      recursive: true,
      filter: (source) => !source.endsWith(".map"),
    });
  const work = "{ let sum = 0; for (let i = 0; i < 1000; i++) sum += i % 7; return sum + text.length; }\n";
  writeFileSync(path.join(app, "work.mjs"), `export function parse(text) ${work}`);
  writeFileSync(path.join(app, "work.js"), `export function parse(text) ${work}`);
  writeFileSync(path.join(app, "work.tsx"), `export function parse(text: string): number ${work}`);
  writeFileSync(path.join(app, "typed.mjs"), 'export { parse } from "./work.tsx";\n');
  writeFileSync(path.join(app, "page.html"), "<!doctype html><title>A page</title>");
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

/** Runs the command as `npx clearway` does. Returns its exit status and its output. */
function clearway(args: string, folder = app): Promise<string> {
  const program = path.join(folder, "node_modules/clearway/bin/clearway.mjs");
  return new Promise((resolve) =>
    execFile(process.execPath, [program, ...args.split(" ")], { cwd: folder }, (error, stdout, stderr) =>
      resolve(`status ${error === null ? 0 : error.code}\n${stdout}${stderr}`),
    ),
  );
}

test("`measure` calls a function of a JavaScript file, directly and in a worker", async () => {
  // On a busy machine, five seconds are too short for an answer.
  expect(await clearway("measure work.mjs#parse --args 1 --time 5")).toMatch(
    /^status 0\n+parse\(1\): directly, or in a worker\?\n/,
  );
});

test("`init bench` writes JavaScript, which `bench` measures", async () => {
  expect(await clearway("init bench")).toContain("bench.mjs and bench.tasks.mjs written");
  expect(await clearway("bench --time 1")).toMatch(/^status 0\n[\s\S]*Should counting primes leave the main thread\?/);
});

test("`jank` measures a script", async () => {
  // A script that ends within a millisecond is not measured.
  writeFileSync(path.join(app, "waits.mjs"), "setTimeout(() => {}, 50);\n");
  expect(await clearway("jank waits.mjs")).toMatch(/^status 0\n[\s\S]*longest stall/);
});

test.each([
  ["measure work.tsx#parse", `error: work.tsx: this Node does not run .tsx files, and ${installs("esbuild")}\n`],
  ["measure typed.mjs#parse", `; esbuild would compile TypeScript: ${installs("esbuild")}\n`],
  ["measure work.js#parse", '; its package.json makes it CommonJS: name it .mjs, or set "type": "module" there\n'],
  ["jank page.html", `error: ${installs("playwright-core")}\n`],
  ...(has("firefox") ? [["jank page.html --browser firefox", `error: ${installs("ws")}\n`]] : []),
  ["ratio --here chromium", `error: ${installs("playwright-core")}\n`],
  ["lab records-chromium", installs("playwright-core")],
  ["lab codec", installs("msgpackr")],
  ["lab executor-node-storage", installs("piscina")],
])("`%s` says what to install, or what to change", async (args, message) => {
  const said = await clearway(args);
  expect(said).toContain(message);
  expect(said).not.toMatch(/^status 0|\n {4}at /);
});

test("`clearway` without the lab says how to install it", async () => {
  const bare = path.join(app, "bare");
  cpSync(path.join(app, "node_modules/clearway"), path.join(bare, "node_modules/clearway"), { recursive: true });
  // The folder is in that of the app, where Node would find the lab.
  rmSync(lab, { recursive: true });
  expect(await clearway("jank page.html", bare)).toBe(
    `status 1\nerror: the command clearway is in the package clearway-lab, which is not installed: npm install --save-dev clearway-lab@${manifest.version}\n`,
  );
});
