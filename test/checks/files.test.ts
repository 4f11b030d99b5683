// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that each check accepts good files and refuses bad ones.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { snapshot } from "../../scripts/check/api.mjs";
import { licenceProblems, machineProblems, phraseProblems, sizes } from "../../scripts/check/files.mjs";
import { addressProblems, lockProblems, manifestProblems } from "../../scripts/check/manifests.mjs";
import { walked } from "../../scripts/sources.mjs";

const file = (lines: number) => [{ path: "a.ts", text: "line\n".repeat(lines) }];

describe("file sizes", () => {
  test("allow 400 lines and refuse 401", () => {
    expect(sizes(file(400))).toEqual([]);
    expect(sizes(file(401))).toEqual([expect.stringContaining("a.ts: 401 lines")]);
  });
});

describe("the files of a copy without git", () => {
  test("are all but those that builds and installations write", () => {
    const folder = mkdtempSync(join(tmpdir(), "clearway-zip-"));
    try {
      const kept = [".npmrc", "native/c/codec.c", "native/crates/build.rs", "ts/clearway/src/index.ts"];
      const written = [
        "node_modules/a/index.js",
        "ts/clearway/dist/index.js",
        "native/c/build/codec.o",
        "out/a.json",
        "clearway.tgz",
        "ts/clearway/LICENSE-MIT",
      ];
      for (const path of [...kept, ...written]) {
        mkdirSync(join(folder, path, ".."), { recursive: true });
        writeFileSync(join(folder, path), "");
      }
      expect(walked(folder).sort()).toEqual(kept);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("licence lines", () => {
  const line = "// SPDX-License-Identifier: MIT OR Apache-2.0";
  test("may follow a #! line, and must not be missing", () => {
    const good = { path: "a.ts", text: `#!/usr/bin/env node\n${line}\n` };
    const bad = { path: "b.ts", text: "export {};\n" };
    expect(licenceProblems([good, bad])).toEqual([expect.stringMatching(/^b\.ts:/)]);
  });
});

describe("paths of one machine", () => {
  test.each([
    ["a home folder", ["", "root", "x"].join("/")],
    ["a checkout", ["", "work", "main"].join("/")],
    ["somebody's home", ["", "home", "me"].join("/")],
  ])("are found: %s", (_, path) => {
    expect(machineProblems([{ path: "a.md", text: `first\nsee ${path}/y\n` }])).toEqual([
      expect.stringMatching(/^a\.md:2:/),
    ]);
  });

  test("do not include ordinary paths", () => {
    const text = "ts/clearway/src/work/photo.ts\n./work/x\n../home/y\nhttps://example.org/work\n";
    expect(machineProblems([{ path: "a.md", text }])).toEqual([]);
  });
});

describe("manifests", () => {
  const good = { name: "clearway", type: "module", license: "MIT OR Apache-2.0" };
  test("have exact versions, and the library's has no runtime dependency", () => {
    expect(manifestProblems("p", good)).toEqual([]);
    expect(manifestProblems("p", { ...good, dependencies: { comlink: "4.4.2" } })).toHaveLength(1);
    expect(manifestProblems("p", { ...good, name: "other", dependencies: { comlink: "^4.4.2" } })).toHaveLength(1);
    expect(manifestProblems("p", { ...good, license: "MIT" })).toHaveLength(1);
  });

  test("of published packages name the repository of the owner and their folder in it", () => {
    const page = "https://github.com/OWNER/clearway";
    const repository = { type: "git", url: `git+${page}.git`, directory: "ts/a" };
    const manifest = { homepage: `${page}#readme`, bugs: `${page}/issues`, repository };
    expect(addressProblems({ folder: "ts/a", manifest }, "OWNER")).toEqual([]);
    expect(addressProblems({ folder: "ts/b", manifest }, "OWNER")).toEqual([
      expect.stringMatching(/^ts\/b\/package\.json: repository should be/),
    ]);
    expect(addressProblems({ folder: "ts/a", manifest }, "me")).toHaveLength(3);
  });

  test("are locked by integrity in a lock file that names no host", () => {
    const entry = { version: "1.0.0", integrity: "sha512-x" };
    expect(lockProblems({ packages: { "": {}, "node_modules/a": entry } })).toEqual([]);
    expect(
      lockProblems({ packages: { "node_modules/a": { ...entry, resolved: "https://example.org/a.tgz" } } }),
    ).toHaveLength(1);
    expect(lockProblems({ packages: { "node_modules/a": { version: "1.0.0" } } })).toHaveLength(1);
  });
});

describe("the API snapshot", () => {
  const entries = [
    { name: "pkg", file: "index.d.ts" },
    { name: "pkg/worker", file: "worker.d.ts" },
  ];
  const shared =
    "/** A task. */\ninterface Task {\n}\ndeclare class Failed {\n}\nexport { Failed as F };\nexport type { Task as T };\n";
  const index =
    '/// <reference lib="x" />\nimport { Plugin } from "other";\nimport { T as Task } from "./types-task.js";\n' +
    "/** Runs. */\ndeclare function run(task: Task): Plugin;\ndeclare const kept: Task;\nexport { run };\n";
  const worker =
    'export { F as Failed, T as Job } from "./types-task.js";\ndeclare class Own {\n}\nexport type { Own };\n';
  const built = { "index.d.ts": index, "types-task.d.ts": shared, "worker.d.ts": worker };
  const text = snapshot(entries, built);

  test("has the exports of each entry point, and once what several of them use", () => {
    const [, ...sections] = text.split(/^(?==)/m);
    expect(sections).toEqual([
      '======== pkg ========\n\n/// <reference lib="x" />\nimport { Plugin } from "other";\n\n' +
        "/** Runs. */\nexport declare function run(task: Task): Plugin;\n\ndeclare const kept: Task;\n\n",
      "======== pkg/worker ========\n\nexport { Failed, type Task as Job, type Own };\n\ndeclare class Own {\n}\n\n",
      "======== declarations of several entry points ========\n\ndeclare class Failed {\n}\n\n/** A task. */\ninterface Task {\n}\n",
    ]);
  });

  test("does not depend on the files and short names that the build chose for shared declarations", () => {
    const other = (file: string) => file.replace("types-task", "types-work").replace("T as", "a as");
    const renamed = {
      "index.d.ts": other(index),
      "types-work.d.ts": shared.replace("Task as T", "Task as a"),
      "worker.d.ts": worker.replace("types-task", "types-work").replace("T as", "a as"),
    };
    expect(snapshot(entries, renamed)).toBe(text);
  });

  test.each([
    ["a changed declaration", { "index.d.ts": index.replace("Plugin;", "void;") }],
    ["a changed shared declaration", { "types-task.d.ts": shared.replace("Task {", "Task { id: number;") }],
    ["an export that is gone", { "worker.d.ts": worker.replace("F as Failed, ", "") }],
    ["an own export that is gone", { "index.d.ts": index.replace("export { run };", "") }],
    ["a value that is exported as a type only", { "index.d.ts": index.replace("export {", "export type {") }],
    ["a comment", { "index.d.ts": index.replace("Runs.", "Runs it.") }],
    ["a package that a type comes from", { "index.d.ts": index.replace('"other"', '"another"') }],
    ["another declaration of the same name", { "index.d.ts": index.replace(/import \{ T.*/, "interface Task {\n}") }],
  ])("shows %s", (_, change) => {
    expect(snapshot(entries, { ...built, ...change })).not.toBe(text);
  });
});

describe("phrases", () => {
  const problems = (path: string, text: string): string[] => phraseProblems([{ path, text }]);

  test("in a comment or a page are reported with their line and a plain alternative", () => {
    const said = '"whoever"; name the actor: the caller, a client, the reader';
    expect(problems("a.ts", "let a = 1;\n// Called by whoever waits.\n")).toEqual([`a.ts:2: ${said}`]);
    expect(problems("a.md", "one\n```\nwhoever\n```\nwhoever")).toEqual([`a.md:5: ${said}`]);
  });

  test.each([
    ["a.ts", "/**\n * The reader is told of it.\n */\nlet a;"],
    ["a.rs", "/// The reader is told of it.\nlet a;"],
    ["a.kt", "val a = 1 // the reader is told of it"],
    ["a.sh", "# The reader is told of it.\n"],
    ["a.md", "The reader is told of it.\n"],
  ])("are found in the prose of %s", (path, text) => {
    expect(problems(path, text)).toHaveLength(1);
  });

  test.each([
    ["a.ts", 'send("nobody");'],
    ["a.ts", "// The channel is called `nobody`."],
    ["a.md", "```ts\n// nobody\n```\n"],
    ["a.md", "An example stands in for the server.\n"],
    ["a.ts", "const url = 'http://nobody/'; // a name that does not resolve"],
  ])("are not found in code, quoted code and other uses in %s", (path, text) => {
    expect(problems(path, text)).toEqual([]);
  });
});
