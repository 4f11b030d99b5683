// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { built, refusals, sources } from "./app.js";

const head = `import { offload } from "clearway/offload";\n`;

// What a function does that cannot move to a worker, the mark under it, and a part of the message.
const refused: readonly [name: string, code: string, marked: string, message: string][] = [
  [
    "assigns to a captured variable",
    "let n = 0;\noffload(() => { n = 1; });",
    "n",
    "cannot assign to it; return the new value",
  ],
  ["increments a captured variable", "let n = 0;\noffload(() => n++);", "n", "copy of `n`"],
  ["destructures into a captured variable", "let n = 0;\noffload(() => { [n] = [1]; });", "n", "copy of `n`"],
  ["loops over a captured variable", "let n = 0;\noffload(() => { for (n of [1]) {} });", "n", "copy of `n`"],
  ["captures a function", "function work() {}\noffload(() => work());", "work", "function `work` cannot cross"],
  [
    "captures an arrow function",
    "const work = () => 1;\noffload(() => work());",
    "work",
    "move it to a module and import it",
  ],
  ["captures a wrapped function", "const work = (() => 1) as any;\noffload(() => work());", "work", "function `work`"],
  ["captures a class", "class Box {}\noffload(() => new Box());", "Box", "class `Box` cannot cross"],
  ["captures a namespace", "namespace N { export const a = 1; }\noffload(() => N.a);", "N", "namespace `N`"],
  ["uses this", "export function f(this: object) { return offload(() => this); }", "this", "has no `this`"],
  ["uses this in a function", "offload(function () { return [() => this]; });", "this", "has no `this`"],
  ["uses this in a computed key", "offload(() => class { [this] = 1 });", "this", "has no `this`"],
  [
    "uses arguments",
    "export function f() { return offload(() => arguments[0]); }",
    "arguments",
    "cannot use the `arguments`",
  ],
  [
    "uses super",
    "export class A extends Object { f() { return offload(() => super.toString()); } }",
    "super",
    "cannot use `super`",
  ],
  [
    "uses new.target",
    "export function F() { return offload(() => new.target); }",
    "new.target",
    "cannot use `new.target`",
  ],
  [
    "uses a private name",
    "export class A { #a = 1; f(o: A) { return offload(() => o.#a); } }",
    "#a",
    "private name #a",
  ],
  ["is a parameter", "export const f = (fn: () => 1) => offload(fn);", "fn", "written here, or an imported one"],
  ["is a function of the file", "function work() {}\noffload(work);", "work", "written here, or an imported one"],
  ["is made by a call", "offload(Object.bind(null));", "Object.bind(null)", "written here, or an imported one"],
  ["is spread", "const all = [() => 1] as const;\noffload(...all);", "...all", "before the `...`"],
];

describe("the build refuses a function that", () => {
  test.each(refused)("%s", async (_, code, marked, message) => {
    const [error, ...others] = await refusals(head + code);
    expect(error?.text).toContain(message);
    expect(others).toEqual([]);
    const { file, lineText = "", column = 0, length = 0 } = error?.location ?? {};
    expect(file).toMatch(/main\.ts$/);
    expect(lineText.slice(column, column + length)).toBe(marked);
  });
});

test("the build names every fault of a file", async () => {
  const code = "let a = 1; class B {}\noffload(() => { a = 2; return new B(); });\noffload(() => this);\n";
  const errors = await refusals(head + code);
  expect(errors.map(({ location }) => [location?.line, location?.column])).toEqual([
    [3, 16],
    [3, 34],
    [4, 14],
  ]);
});

test("a fault in a nested function is named in the source file", async () => {
  const code = "offload(async () => {\n  const own = () => 1;\n  return offload(() => own());\n});\n";
  const [error] = await refusals(head + code);
  expect(error?.text).toContain("function `own`");
});

test("`this` in JSX is refused once, where its element begins", async () => {
  const [error, ...others] = await refusals(`${head}offload(() => <this.Part.x this={1}></this.Part.x>);`, "main.jsx");
  expect(error?.text).toContain("has no `this`");
  expect(error?.location).toMatchObject({ line: 2, column: 15, length: 4 });
  expect(others).toEqual([]);
});

test("`this` in a type is no use of it", async () => {
  const code = `${head}export class A { y = 1; m() { return offload((x: typeof this.y) => x, this.y); } }`;
  await built(sources({ "main.ts": code }));
});

test("a syntax error is the bundler's own", async () => {
  const [error] = await refusals(`${head}offload(() => { let 1x; });`);
  expect(error?.pluginName).toBe("");
  expect(error?.text).toMatch(/Expected|Syntax/);
});

test("a format without URLs is refused", async () => {
  const folder = sources({ "main.ts": `${head}offload(() => 1);` });
  const failed = built(folder, "main.ts", { format: "iife", platform: "browser" });
  await expect(failed).rejects.toThrow('offload() needs the format "esm"');
});
