// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { splice } from "../../scripts/snippets.mjs";

const sources: Record<string, string> = {
  "app/main.ts": [
    "// SPDX-License-Identifier: MIT OR Apache-2.0",
    "export function main() {",
    "  // #region call",
    "  const a = 1;",
    "",
    "    const deeper = 2;",
    "  // #endregion call",
    "}",
    "",
  ].join("\n"),
};
const read = (path: string) => sources[path];
const page = (path: string, ...fence: string[]) =>
  ["# Page", `<!-- snippet: ${path} -->`, ...fence, "after"].join("\n");
const right = page("app/main.ts#call", "```ts", "const a = 1;", "", "  const deeper = 2;", "```");

test("a fence that equals its file stays unchanged", () => {
  expect(splice(right, read)).toEqual({ page: right, problems: [], count: 1 });
});

test("a stale fence gets the region's lines, without its indentation", () => {
  expect(splice(page("app/main.ts#call", "```js", "const old = 0;", "```"), read).page).toBe(right);
});

test("a marker without a fence gets a fence", () => {
  expect(splice(page("app/main.ts#call"), read).page).toBe(right);
});

test("a marker without a region gets the whole file, without its licence line and region marks", () => {
  const whole = ["```ts", "export function main() {", "  const a = 1;", "", "    const deeper = 2;", "}", "```"];
  expect(splice(page("app/main.ts"), read).page).toBe(page("app/main.ts", ...whole));
});

test.each([
  ["a missing file", "app/gone.ts#call", "no such file"],
  ["a missing region", "app/main.ts#other", 'no lines between "#region other"'],
])("%s is a problem, and the fence stays unchanged", (_, path, why) => {
  const before = page(path, "```ts", "const kept = 1;", "```");
  const { page: after, problems } = splice(before, read);
  expect(after).toBe(before);
  expect(problems).toEqual([expect.stringContaining(why)]);
});

test("a misspelt marker is a problem", () => {
  expect(splice("<!-- snippet app/main.ts -->", read).problems).toHaveLength(1);
});
