// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { hasTsNode, names } from "../../src/host/node/task-module.js";
import { type Hooks, hooksWith } from "../../src/start/typescript-hooks.js";
import { taskFolder } from "../fixtures/task-folder.js";

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
