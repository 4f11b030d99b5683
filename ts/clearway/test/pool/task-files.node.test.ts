// SPDX-License-Identifier: MIT OR Apache-2.0
import { symlinkSync } from "node:fs";
import { relative } from "node:path";
import { getEnvironmentData } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { hasTsNode, names } from "../../src/host/node/task-module.js";
import { type Hooks, hooksWith } from "../../src/start/typescript-hooks.js";
import { reasonOf, testPool } from "../fixtures/pools.js";
import {
  type AnswerTasks,
  nodeStripsTypes,
  outsideOfRunners,
  plainJavaScript,
  plainTypeScript,
  taskFolder,
} from "../fixtures/task-folder.js";

const answerOf = (source: URL | string): Promise<number> => testPool<AnswerTasks>(source).call.answer(41);
const failureOf = async (source: URL | string) => reasonOf(testPool<AnswerTasks>(source).call.answer(41));

// What only a transformer compiles, and what only a bundler finds: an enum, a parameter property, `./one.js` for one.ts, no extension.
const rich = {
  "rich.tasks.ts": [
    'import { expose } from "clearway/worker";',
    'import { One } from "./one.js";',
    'import { two } from "./two";',
    'import { three } from "./three";',
    "class Sum { constructor(private readonly base: number) {} plus(value: number) { return this.base + value; } }",
    "export default expose({ answer: (value: number) => new Sum(One.Value + two + three - 5).plus(value) });",
  ].join("\n"),
  "one.ts": "export enum One { Value = 1 }",
  "two.ts": "export const two: number = 2;",
  "three/index.ts": "export const three: number = 3;",
};

describe("in a test runner", () => {
  test("a task module of TypeScript runs with its imports, also when its URL ends in .js", async () => {
    const { url } = taskFolder(rich);
    expect(await answerOf(url("rich.tasks.ts"))).toBe(42);
    expect(await answerOf(url("rich.tasks.js"))).toBe(42);
  });

  test("a worker's own pool starts with TypeScript too", async () => {
    const { url } = taskFolder({
      ...rich,
      "outer.tasks.ts": [
        'import { pool } from "clearway";',
        'import { expose } from "clearway/worker";',
        "const inner = () => pool<any>(new URL('./rich.tasks.js', import.meta.url), { size: 1 });",
        "async function answer(value: number) {",
        "  const tasks = inner();",
        "  try { return await tasks.call.answer(value); } finally { await tasks.close(); }",
        "}",
        "export default expose({ answer });",
      ].join("\n"),
    });
    expect(await answerOf(url("outer.tasks.ts"))).toBe(42);
  });

  test("the worker sees the task module in process.argv, and no traces of its start", async () => {
    const { url, path } = taskFolder({
      "traces.tasks.ts": [
        'import { getEnvironmentData } from "node:worker_threads";',
        'import { expose } from "clearway/worker";',
        "enum Trace { Key = 'clearway:start' }",
        "export default expose({ traces: () => [process.argv[1], getEnvironmentData(Trace.Key)] as const });",
      ].join("\n"),
    });
    const made = testPool<{ traces(): [string, unknown] }>(url("traces.tasks.ts"));
    expect(await made.call.traces()).toEqual([path("traces.tasks.ts"), undefined]);
    expect(getEnvironmentData("clearway:start")).toBeUndefined();
  });

  test("an error of a task has the line of the TypeScript file", async () => {
    const { url } = taskFolder({
      "fails.tasks.ts": [
        'import { expose } from "clearway/worker";',
        "interface Unused { readonly a: string; readonly b: string }",
        "enum Two { A, B }",
        "export default expose({ answer(value: number): number { throw new RangeError('line 4: ' + Two.B + value); } });",
      ].join("\n"),
    });
    expect(await failureOf(url("fails.tasks.ts"))).toMatchObject({
      name: "RangeError",
      stack: expect.stringContaining("fails.tasks.ts:4:"),
    });
  });

  test("a task module that does not compile fails calls with the compiler's reason", async () => {
    const { url } = taskFolder({ "broken.tasks.ts": "export default 1 +;" });
    const failure = await failureOf(url("broken.tasks.ts"));
    expect(failure).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringMatching(/could not be started: \S/),
    });
  });
});

describe("outside of a test runner", () => {
  test("a .ts file of the app is compiled by what the app has installed", async () => {
    outsideOfRunners();
    const { url } = taskFolder({ "plain.tasks.ts": plainTypeScript });
    expect(await answerOf(url("plain.tasks.ts"))).toBe(42);
  });

  test("a .ts URL beside which only the compiled .js file exists starts that file", async () => {
    outsideOfRunners();
    const { url } = taskFolder({ "plain.tasks.js": plainJavaScript, "other.tasks.mjs": plainJavaScript });
    expect(await answerOf(url("plain.tasks.ts"))).toBe(42);
    expect(await answerOf(url("other.tasks.mts"))).toBe(42);
  });

  test("a .js URL beside which only a .ts file exists starts where Node strips types, and else the error names the file", async () => {
    outsideOfRunners();
    const { url, path } = taskFolder({ "plain.tasks.ts": plainTypeScript });
    if (nodeStripsTypes) return expect(await answerOf(url("plain.tasks.js"))).toBe(42);
    const { code, message } = await failureOf(url("plain.tasks.js"));
    expect(code).toBe("worker-start-failed");
    expect(message).toContain(`there is no file ${path("plain.tasks.js")}; found plain.tasks.ts beside it`);
  });

  test("JavaScript in a folder whose name needs escapes starts from a URL, the text of a URL and a path", async () => {
    outsideOfRunners();
    const { url, path } = taskFolder({ "plain.tasks.js": plainJavaScript }, "f ü%20#?日-");
    expect(await answerOf(url("plain.tasks.js"))).toBe(42);
    expect(await answerOf(url("plain.tasks.js").href)).toBe(42);
    expect(await answerOf(path("plain.tasks.js"))).toBe(42);
    expect(await answerOf(`./${relative(process.cwd(), path("plain.tasks.js"))}`)).toBe(42);
  });

  test("TypeScript in such a folder starts too, also through a symbolic link", async () => {
    const { url, path } = taskFolder({ ...rich }, "f ü%20#?日-");
    symlinkSync(path("rich.tasks.ts"), path("link.tasks.ts"));
    expect(await answerOf(url("rich.tasks.js").href)).toBe(42);
    expect(await answerOf(path("rich.tasks.ts"))).toBe(42);
    expect(await answerOf(url("link.tasks.ts"))).toBe(42);
  });
});

describe("the error of a worker that cannot start names", () => {
  test("the missing file, the files beside it, and the caller", async () => {
    const { url, path } = taskFolder({
      "images.tasks.mjs": "",
      "images.tasks.jsx": "",
      "images.tasks.d.ts": "",
      "image.ts": "",
    });
    const { code, message } = await failureOf(url("images.tasks.js"));
    expect(code).toBe("worker-start-failed");
    expect(message).toContain(
      `there is no file ${path("images.tasks.js")}; found images.tasks.jsx, images.tasks.mjs beside it`,
    );
    expect(message).not.toContain("In a bundle");
  });

  test("a missing file without relatives, also in a missing folder", async () => {
    const { url, path } = taskFolder({});
    for (const name of ["images.tasks.js", "no/images.tasks.ts", "images"]) {
      const { message } = await failureOf(url(name));
      expect(message).toContain(`there is no file ${path(name)}`);
    }
  });

  test("the module that ended before it called expose()", async () => {
    const { url, path } = taskFolder({
      "silent.tasks.ts": "enum A { B }",
      "ends.tasks.js": "process.exit(0);",
      "waits.tasks.js": "await new Promise(() => {});",
    });
    for (const name of ["silent.tasks.ts", "ends.tasks.js", "waits.tasks.js"]) {
      const { code, message } = await failureOf(url(name));
      expect(code).toBe("worker-start-failed");
      expect(message).toContain(`${path(name)} ended before it called expose()`);
    }
  });

  test("the error that a task module threw, with its cause", async () => {
    const { url } = taskFolder({
      "throws.tasks.ts": "enum A { B } throw new RangeError('no ' + A.B);",
      "imports.tasks.ts": "enum A { B } import './none.js';",
    });
    expect(await failureOf(url("throws.tasks.ts"))).toMatchObject({
      message: expect.stringContaining("could not be started: no 0"),
      cause: expect.objectContaining({ name: "RangeError", message: "no 0" }),
    });
    expect((await failureOf(url("imports.tasks.ts"))).message).toMatch(
      /could not be started: Cannot find module .*none\.js/,
    );
  });

  test("the module that does not parse, also in a child process", async () => {
    const { url, path } = taskFolder({ "broken.tasks.js": "export default 1 2;" });
    for (const processes of [false, true]) {
      const made = testPool<AnswerTasks>(url("broken.tasks.js"), { processes });
      const { message } = await reasonOf(made.call.answer(1));
      expect(message).toContain(`the worker of ${path("broken.tasks.js")} could not be started: Unexpected number`);
    }
  });

  test("the option `setup`, if its module's `setup` failed without it", async () => {
    const { url } = taskFolder({
      "needs.tasks.js": [
        'import { expose } from "clearway/worker";',
        "export default expose({ answer: (value) => value }, { setup: ({ fails }) => fails() });",
      ].join("\n"),
    });
    const missing = /failed: Cannot destructure property 'fails' of .*, and the pool has no option `setup`$/;
    expect(await failureOf(url("needs.tasks.js"))).toMatchObject({
      code: "setup-failed",
      message: expect.stringMatching(missing),
    });
    const made = testPool<AnswerTasks>(url("needs.tasks.js"), { setup: {} as never });
    expect((await reasonOf(made.call.answer(1))).message).not.toContain("option");
  });

  test("the source of a module that waits for ever, but not the code in a data: URL", async () => {
    const source = `data:text/javascript,setInterval(() => {}, 1e6); await new Promise(() => {});`;
    const made = testPool<AnswerTasks>(source, { startTimeoutMs: 1 });
    const { message } = await reasonOf(made.call.answer(1));
    expect(message).toContain("the worker of data:text/javascript could not be started: it was not ready ");
  });

  test("nothing but Node's reason for a source that names no file", async () => {
    for (const source of [
      "plain.tasks.js",
      "file://elsewhere/plain.tasks.js",
      "https://127.0.0.1/plain.tasks.js",
      "C:none.js",
    ]) {
      const { code, message } = await failureOf(source);
      expect(code).toBe("worker-start-failed");
      expect(message).not.toContain("there is no file");
    }
  });
});

test("a worker whose module waits for ever fails at the time limit", async () => {
  const { url } = taskFolder({
    "hangs.tasks.ts": "enum A { B } setInterval(() => A.B, 1e6); await new Promise(() => {});",
  });
  const made = testPool<AnswerTasks>(url("hangs.tasks.ts"), { startTimeoutMs: 500 });
  const { code, message } = await reasonOf(made.call.answer(1));
  expect([code, message]).toEqual(["worker-start-failed", expect.stringContaining("it was not ready within 500 ms")]);
});

const files = {
  "main.ts": "main",
  "a.ts": "a",
  "b.tsx": "b",
  "c/index.ts": "c",
  "d.mts": "d",
  "e.js": "e",
  "node_modules/p/index.ts": "p",
  "node_modules/p/main.js": "main of p",
};

describe("the hooks for TypeScript", () => {
  const hooks: Hooks = hooksWith((text, path) => `compiled ${text} of ${path.split("/").at(-1)}`);
  const resolved = (specifier: string, parent: string | undefined): string =>
    hooks.resolve(specifier, { parentURL: parent }, (next) => next);

  test.each([
    ["./a.js", "a.ts"],
    ["./a", "a.ts"],
    ["./a.js?x=1#y", "a.ts?x=1#y"],
    ["./b.jsx", "b.tsx"],
    ["./b.js", "b.tsx"],
    ["./c", "c/index.ts"],
    ["./d.mjs", "d.mts"],
  ])("find %s as %s", (specifier, file) => {
    const { url } = taskFolder(files);
    expect(resolved(specifier, url("main.ts").href)).toBe(new URL(file, url("main.ts")).href);
  });

  test.each(["./e.js", "./a.ts", "./none.js", "package", "node:fs", "#internal", "https://127.0.0.1/a.js", "."])(
    "leave %s to Node",
    (specifier) => {
      const { url } = taskFolder(files);
      expect(resolved(specifier, url("main.ts").href)).toBe(specifier);
    },
  );

  test("leave the imports of packages, and those without a file, to Node", () => {
    const { url } = taskFolder(files);
    for (const parent of [url("node_modules/p/main.js").href, "data:text/javascript,1", undefined, "file://%00"]) {
      expect(resolved("./index.js", parent)).toBe("./index.js");
    }
  });

  test("compile the app's TypeScript, and nothing else", () => {
    const { url } = taskFolder(files);
    const loaded = (address: string): unknown => hooks.load(address, {}, () => "by Node");
    for (const [file, source] of [
      ["a.ts", "a"],
      ["b.tsx", "b"],
      ["d.mts", "d"],
    ] as const) {
      const compiled = { format: "module", shortCircuit: true, source: `compiled ${source} of ${file}` };
      expect(loaded(`${url(file).href}?clearway`)).toEqual(compiled);
    }
    for (const other of [url("e.js").href, url("node_modules/p/index.ts").href, "node:fs", "data:text/plain,a.ts"]) {
      expect(loaded(other)).toBe("by Node");
    }
  });
});

describe("a loader on the command line", () => {
  test.each([
    "--import tsx",
    "--import=tsx",
    "--import\ntsx/esm",
    "--import file:///app/node_modules/tsx/dist/loader.mjs",
    "--require C:\\app\\node_modules\\tsx\\dist\\preflight.cjs",
    '--import "tsx"',
  ])("is found in %j", (line) => {
    expect(names(line, "tsx")).toBe(true);
  });

  test.each(["", "--import ./page.tsx", "--import atsx", "--import tsx-like", "--conditions=ts"])(
    "is not found in %j",
    (line) => {
      expect(names(line, "tsx")).toBe(false);
    },
  );

  test("is not ts-node unless ts-node has registered itself", () => {
    expect(hasTsNode()).toBe(false);
  });
});
