// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what `clearway jank` understands of its command line: steps, budgets and targets.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judge, parseBudget } from "../../src/jank/figures.js";
import { parseClick, parseScroll, parseType, parseWait, stepText } from "../../src/jank/steps.js";
import { parseTarget } from "../../src/jank/target.js";

describe("a step", () => {
  test.each([
    ["#name=tea", "#name", "tea"],
    ["input[name=q]=green tea", "input[name=q]", "green tea"],
    [`input[name="a]="]=x=y`, `input[name="a]="]`, "x=y"],
    ["input:not([type=x])=", "input:not([type=x])", ""],
  ])("types after the equals sign outside of the selector: %s", (text, selector, typed) => {
    expect(parseType(text)).toEqual({ kind: "type", selector, text: typed });
  });

  test.each(["#name", "=text", "input[name=q]", ""])("without selector and text is refused: %j", (text) => {
    expect(() => parseType(text)).toThrow(RangeError);
  });

  test.each([
    ["500", { kind: "wait", ms: 500 }],
    ["0", { kind: "wait", ms: 0 }],
    ["1.5", { kind: "wait", ms: 1.5 }],
    [".done", { kind: "appear", selector: ".done" }],
    ["#ready li", { kind: "appear", selector: "#ready li" }],
  ])("waits for a time or an element: %s", (text, step) => {
    expect(parseWait(text)).toEqual(step);
  });

  test.each(["-5", "5s", "1e99", " ", "3600001"])("with a wrong wait is refused: %j", (text) => {
    expect(() => parseWait(text)).toThrow(RangeError);
  });

  test.each(["", "x", "1.5", "1000001", "Infinity"])("with wrong pixels is refused: %j", (text) => {
    expect(() => parseScroll(text)).toThrow("pixels are an integer");
  });

  test("with an empty selector is refused", () => {
    expect(() => parseClick("  ")).toThrow("the CSS selector is empty");
  });

  test("has a name", () => {
    const steps = [parseClick("#go"), parseType("#q=tea"), parseScroll("-20"), parseWait("5"), parseWait("p")];
    expect(steps.map(stepText)).toEqual(["click #go", "type #q", "scroll -20", "wait 5 ms", "wait for p"]);
  });
});

describe("a budget", () => {
  test("without names limits the longest stall", () => {
    expect(parseBudget("50")).toEqual([{ name: "stall", max: 50 }]);
  });

  test("limits several figures", () => {
    expect(parseBudget("stall=50, dropped=0")).toEqual([
      { name: "stall", max: 50 },
      { name: "dropped", max: 0 },
    ]);
  });

  test.each([
    ["stal=5", `unknown figure "stal"`],
    ["toString=5", `unknown figure "toString"`],
    ["stall=", "stall needs a number"],
    ["", "stall needs a number"],
    ["-1", "stall needs a number of 0 or more: stall=-1"],
    ["5,stall=6", "stall has two limits"],
  ])("that is wrong is refused: %j", (text, message) => {
    expect(() => parseBudget(text)).toThrow(message);
  });

  test("is kept by a value equal to its limit, and exceeded by a larger one", () => {
    const values = { stall: 50, stalled: 0, lag: 0, hitch: 0, hitch120: 0, dropped: 1, dropped120: 0 };
    expect(judge(parseBudget("50,dropped=0"), values).map(({ kept }) => kept)).toEqual([true, false]);
  });
});

describe("a target", () => {
  let folder: string;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), "clearway-jank-")));
    mkdirSync(path.join(folder, "site.html"));
    for (const name of ["page.html", "run.mjs", "notes.txt"]) writeFileSync(path.join(folder, name), "");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => path.join(folder, name);

  test("is an address, a page or a script", () => {
    expect(parseTarget("https://example.com/a")).toMatchObject({ kind: "url", url: "https://example.com/a" });
    expect(parseTarget(at("page.html"))).toMatchObject({ kind: "page", file: at("page.html") });
    expect(parseTarget(pathToFileURL(at("run.mjs")).href)).toMatchObject({ kind: "script", file: at("run.mjs") });
  });

  test.each([
    ["http://", "not an address"],
    ["ftp://example.com/a.html", "only http and https"],
    ["missing.html", "does not exist"],
  ])("that cannot be measured is refused: %s", (text, message) => {
    expect(() => parseTarget(text)).toThrow(message);
  });

  test("that is a folder or another kind of file is refused", () => {
    expect(() => parseTarget(folder)).toThrow("is a folder");
    expect(() => parseTarget(at("site.html"))).toThrow("is a folder");
    expect(() => parseTarget(at("notes.txt"))).toThrow("a page ends in .html or .htm");
  });
});
