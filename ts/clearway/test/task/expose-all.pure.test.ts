// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { expose, exposeAll } from "../../src/task/expose.js";

const refusal = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

const images = expose({ resize: (width: number) => width });
const texts = expose({ upper: (text: string) => text.toUpperCase() });

test.each(["then", "toJSON", "toString", "valueOf"])("expose() refuses a task called %s", (name) => {
  expect(refusal(() => expose({ [name]: () => 1 }))).toMatchObject({
    code: "invalid-argument",
    message: `the name of a task must be another one, because JavaScript itself calls this: the name of a task="${name}"`,
  });
});

describe("exposeAll()", () => {
  test("gives a unit test the tasks, by their full names", () => {
    const tasks = exposeAll({ images, texts });
    expect(Object.keys(tasks)).toEqual(["images.resize", "texts.upper"]);
    expect(tasks["texts.upper"]("a")).toBe("A");
  });

  test("refuses what expose() has not returned, and names it", () => {
    const untyped = exposeAll as unknown as (modules: unknown) => unknown;
    for (const wrong of [undefined, null, 5, {}, { ...images }, { default: images }, images.resize])
      expect(refusal(() => untyped({ images, wrong }))).toMatchObject({
        code: "invalid-argument",
        message: expect.stringContaining("modules.wrong must be the default export of a task module"),
      });
    expect(refusal(() => untyped("images"))).toMatchObject({ code: "invalid-argument" });
  });

  test("refuses two tasks of one name, and names both", () => {
    const first = expose({ "b.c": () => 1 });
    const second = expose({ c: () => 2 });
    expect(refusal(() => exposeAll({ a: first, "a.b": second }))).toMatchObject({
      code: "invalid-argument",
      message: 'two tasks have the name "a.b.c": "b.c" of the module "a", and "c" of the module "a.b"',
    });
  });
});
