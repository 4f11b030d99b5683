// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { cycleProblems, findCycles } from "../../scripts/check/cycles.mjs";

const file = (name: string, ...imports: string[]) => ({
  path: `ts/x/src/${name}.ts`,
  text: imports.map((to) => (to.startsWith("import") ? to : `import "./${to}.js";`)).join("\n"),
});
const path = (name: string) => `ts/x/src/${name}.ts`;

describe("the check of import cycles", () => {
  test("finds each cycle once, with all of its files", () => {
    const sources = [
      file("a", "b"),
      file("b", "c"),
      file("c", "a"),
      file("d", "a", "e"),
      file("e", "d"),
      file("f", "a"),
    ];
    expect(findCycles(sources)).toEqual([
      [path("a"), path("b"), path("c")],
      [path("d"), path("e")],
    ]);
  });

  test.each(['import type { A } from "./a.js"', 'const a = await import("./a.js")', 'type A = import("./a.js").A'])(
    "counts %s",
    (text) => {
      expect(findCycles([file("a", "b"), { path: path("b"), text }])).toEqual([[path("a"), path("b")]]);
    },
  );

  test("allows a known cycle, and refuses a file that joins it", () => {
    const known = [{ why: "one concept", files: [path("a"), path("b")] }];
    expect(cycleProblems([file("a", "b"), file("b", "a")], known)).toEqual([]);
    expect(cycleProblems([file("a", "b"), file("b", "c", "a"), file("c", "a")], known)).toEqual([
      `${path("c")}: has joined the cycle of ${path("a")}`,
    ]);
  });

  test("refuses an unknown cycle, and a list with a file that has left its cycle", () => {
    expect(cycleProblems([file("a", "b"), file("b", "a")], [])).toEqual([expect.stringContaining("in a cycle")]);
    const known = [{ why: "one concept", files: [path("a"), path("b")] }];
    expect(cycleProblems([file("a", "b"), file("b")], known)).toHaveLength(2);
  });
});
