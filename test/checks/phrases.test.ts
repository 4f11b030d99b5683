// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { found, prose } from "../../scripts/check/phrases.mjs";

const problems = (path: string, text: string): string[] => found([{ path, text }]);

test("a phrase in a comment is reported with its line and a plain alternative", () => {
  expect(problems("a.ts", "let a = 1;\n// Called by whoever waits.\n")).toEqual([
    'a.ts:2: "whoever"; name the actor: the caller, a client, the reader',
  ]);
});

test.each([
  ["a.ts", "/**\n * The reader is told of it.\n */\nlet a;"],
  ["a.rs", "/// The reader is told of it.\nlet a;"],
  ["a.kt", "val a = 1 // the reader is told of it"],
  ["a.sh", "# The reader is told of it.\n"],
  ["a.md", "The reader is told of it.\n"],
])("prose in %s is checked", (path, text) => {
  expect(problems(path, text)).toHaveLength(1);
});

test.each([
  ["a.ts", 'send("nobody");'],
  ["a.ts", "// The channel is called `nobody`."],
  ["a.md", "```ts\n// nobody\n```\n"],
  ["a.md", "An example stands in for the server.\n"],
  ["a.ts", "const url = 'http://nobody/'; // a name that does not resolve"],
])("code, quoted code and other uses in %s are not checked", (path, text) => {
  expect(problems(path, text)).toEqual([]);
});

test("lines of prose keep their numbers", () => {
  expect(prose("a.md", "one\n```\ntwo\n```\nthree")).toEqual(["one", "", "", "", "three"]);
});
