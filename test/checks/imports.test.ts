// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { folders } from "../../scripts/check/import-rules.mjs";
import { importProblems, rulesTable, withRules } from "../../scripts/check/imports.mjs";
import { labFolders } from "../../scripts/check/lab-import-rules.mjs";

const from = (path: string, ...specifiers: string[]) =>
  importProblems([{ path, text: specifiers.map((specifier) => `import "${specifier}";`).join("\n") }]);

describe("the import rules", () => {
  test("let a folder import itself and the folders in its rule", () => {
    expect(from("ts/clearway/src/task/run.ts", "./context.js", "../error/clearway-error.js", "#host")).toEqual([]);
    expect(from("ts/clearway/src/meter.ts", "./meter/watch.js")).toEqual([]);
    expect(from("ts/clearway-lab/src/cli/lab.ts", "clearway", "./other.js", "node:fs", "commander")).toEqual([]);
    expect(from("conformance/flutter/run.mjs", "../../ts/clearway-lab/src/flutter/engine.mjs")).toEqual([]);
  });

  test.each([
    ["a task that imports the pool", "ts/clearway/src/task/run.ts", "../pool/pool.js"],
    ["a meter that imports anything", "ts/clearway/src/meter/watch.ts", "../error/clearway-error.js"],
    ["an entry of the worker that imports the pool", "ts/clearway/src/worker.ts", "./pool/pool.js"],
    ["a library that imports a package", "ts/clearway/src/pool/pool.ts", "comlink"],
    ["a pool that imports Node by itself", "ts/clearway/src/pool/pool.ts", "node:os"],
    ["a library that reaches out of its src", "ts/clearway/src/pool/pool.ts", "../../../clearway-lab/src/run.js"],
    ["a test of the library that imports the lab", "ts/clearway/test/pool.test.ts", "clearway-lab"],
    ["an example that imports the lab", "examples/records/main.ts", "../../ts/clearway-lab/src/run.js"],
    [
      "conformance that imports another part of the lab",
      "conformance/flutter/run.mjs",
      "../../ts/clearway-lab/src/run.js",
    ],
    ["a layer of the pool that imports a higher one", "ts/clearway/src/pool/worker/worker.ts", "../call/call.js"],
    ["a layer of the pool that imports the engine", "ts/clearway/src/pool/lifecycle/retire.ts", "../engine.js"],
    [
      "a lab that goes round the public entries",
      "ts/clearway-lab/src/run/execute.ts",
      "../../../clearway/src/pool/pool.js",
    ],
  ])("refuse %s", (_, path, specifier) => {
    const text = `// first line\nimport "${specifier}";\n`;
    expect(importProblems([{ path, text }])).toEqual([expect.stringContaining(`${path}:2: imports "${specifier}"`)]);
  });

  test("let a layer of the pool import types of the engine, and no code", () => {
    const path = "ts/clearway/src/pool/worker/worker.ts";
    const problems = (form: string) => importProblems([{ path, text: `import ${form} from "../engine.js";` }]);
    expect(problems("type { Engine }")).toEqual([]);
    expect(problems("{ Engine }")[0]).toContain("pool/worker may import only types from pool/engine.ts");
  });

  test.each([
    'export * from "X"',
    'const x = await import("X")',
    'type T = import("X").T',
    'import type { T } from "X"',
  ])("see the import in: %s", (form) => {
    const text = form.replace("X", "../pool/pool.js");
    expect(importProblems([{ path: "ts/clearway/src/task/run.ts", text }])).toHaveLength(1);
  });

  test("require a rule for a new folder", () => {
    expect(from("ts/clearway/src/newcomer/it.ts", "./other.js")[0]).toContain("has no rule for newcomer");
    expect(from("ts/clearway/src/pool/newcomer/it.ts", "./other.js")[0]).toContain("has no rule for pool");
  });

  test("name only folders that have a rule", () => {
    for (const { may, types = [] } of Object.values(folders))
      expect(Object.keys(folders)).toEqual(expect.arrayContaining([...may, ...types]));
  });
});

describe("the import rules of the lab", () => {
  const problems = (path: string, text: string) => importProblems([{ path: `ts/clearway-lab/src/${path}`, text }]);

  test("let a folder import itself, what its rule names, and its hosts by their alias", () => {
    expect(from("ts/clearway-lab/src/push/pace.ts", "./sending.js", "../protocol/message.js", "#lab-host")).toEqual([]);
  });

  test.each([
    [
      "a report that imports the command",
      "report/report.ts",
      "../cli/duration.js",
      "report may import engine, jank, protocol, ratio, run, scenario, statistics",
    ],
    ["statistics that import anything", "statistics/sizes.ts", "../run/record.js", "statistics may import nothing"],
    ["a family that imports another", "memory/fill.ts", "../push/pace.js", "memory may import host, native"],
    ["an alias of a folder that is above", "host/node.ts", "#lab-node-only", "host may import protocol"],
    ["a folder without a rule", "newcomer/it.ts", "../run/record.js", "no rule for newcomer"],
  ])("refuse %s", (_, path, specifier, why) => {
    expect(problems(path, `import "${specifier}";\n`)).toEqual([expect.stringContaining(why)]);
  });

  test.each([
    'import type * as Tasks from "../work/push-tasks.js"',
    'import type { A } from "../work/push-tasks.js"',
    'const made = pool<typeof import("../work/push-tasks.js")>(url)',
  ])("let a family import the types of its workers' entries: %s", (text) => {
    expect(problems("push/clearway.ts", text)).toEqual([]);
  });

  test.each([
    'import { run } from "../work/push-tasks.js"',
    'const tasks = await import("../work/push-tasks.js")',
    'import type { A } from "./pace.js";\nimport { run } from "../work/push-tasks.js"',
  ])("refuse the code of its workers' entries: %s", (text) => {
    expect(problems("push/clearway.ts", text)).toEqual([
      expect.stringContaining("push may import only types from work"),
    ]);
  });

  test("name only folders that they have a rule for, and never the command", () => {
    for (const { may, types = [] } of Object.values(labFolders)) {
      expect(Object.keys(labFolders)).toEqual(expect.arrayContaining([...may, ...types]));
      expect(may).not.toContain("cli");
    }
  });
});

describe("ARCHITECTURE.md", () => {
  const page = readFileSync(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");

  test("contains the rules that the check enforces", () => {
    expect(page).toContain(rulesTable());
    expect(withRules(page)).toBe(page);
  });

  test("is corrected when it contains another rule", () => {
    const stale = page.replace("| `meter` | nothing |", "| `meter` | `error` |");
    expect(stale).not.toBe(page);
    expect(withRules(stale)).toBe(page);
  });
});
