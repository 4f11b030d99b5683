// SPDX-License-Identifier: MIT OR Apache-2.0
// What a terminal would obey reaches no output of a command, wherever it comes from: a record, a file, an argument. The same for reports.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { visible } from "../../../scripts/terminal-text.mjs";
import { terminalText } from "../src/report/colours.js";
import { answered } from "./answered.js";
import { BuiltCli, TESTED } from "./built-cli.js";

/** Every character that a terminal obeys, except the end of a line and the tab. */
const OBEYED = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const codes = [...Array(0xa0).keys()].filter((code) => code < 0x20 || code > 0x7e);
const HOSTILE = [
  ...codes.filter((code) => code !== 9 && code !== 10).map((code) => String.fromCharCode(code)),
  "\u001b[2J\u001b]0;title\u0007\u001b[31mred\u009b31mred",
  "<script>alert(1)</script><img src=x onerror='alert(1)'>",
  "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
].join("");

describe("text for a terminal", () => {
  test("has no character that a terminal obeys, and changes nothing else", () => {
    const unit = fc.oneof(
      fc.integer({ min: 0, max: 0x2100 }).map((code) => String.fromCodePoint(code)),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join("");
        for (const shown of [visible(text), terminalText(text)]) {
          expect(shown).not.toMatch(OBEYED);
          expect(shown.replace(/\\u[0-9a-f]{4}/g, "")).toBe(visible(text).replace(/\\u[0-9a-f]{4}/g, ""));
        }
        // In JSON, the escape is the character.
        expect(JSON.parse(visible(JSON.stringify([text])))).toEqual([text]);
      }),
    );
  });
});

describe("a command", () => {
  const cli = new BuiltCli();
  /** Writes a run whose texts for people are hostile, and one in which every text is. */
  beforeAll(() => {
    const everyText = (value: unknown, isHostile: (key: string) => boolean, key = ""): unknown => {
      if (typeof value === "string") return isHostile(key) ? `${value}${HOSTILE}` : value;
      if (Array.isArray(value)) return value.map((each) => everyText(each, isHostile, key));
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, everyText(each, isHostile, name)]));
    };
    const shown = new Set(["cpu", "thing", "peer", "setUp", "title", "command", "failed", "why", "node"]);
    const results = answered();
    const failed = { ...results.answers[0]!, failed: "it broke" };
    const run = everyText({ ...results, answers: [failed, ...results.answers] }, (key) => shown.has(key));
    mkdirSync(cli.path("shown"));
    writeFileSync(cli.path("shown", "results.json"), JSON.stringify(run));
    writeFileSync(cli.path("throws.bench.mjs"), `throw new Error(${JSON.stringify(HOSTILE)});`);
    writeFileSync(cli.path("throws.tasks.mjs"), `export function f() { throw new Error(${JSON.stringify(HOSTILE)}); }`);
    writeFileSync(cli.path("damaged.json"), HOSTILE);
  });
  afterAll(() => cli.remove());

  // An argument cannot have the character U+0000.
  const argument = HOSTILE.replace("\0", "");
  test.each([
    ["compare", "shown", "nowhere"],
    ["compare", "throws.bench.mjs", "throws.bench.mjs"],
    ["report", "shown"],
    ["export", "markdown", "shown"],
    ["export", "jetpack", "shown"],
    ["export", "markdown", "damaged.json"],
    ["lab", argument],
    ["lab", "--profile", "published", argument],
    ["bench", "throws.bench.mjs"],
    ["bench", argument],
    ["measure", "throws.tasks.mjs#f"],
    ["ratio", "--name", argument],
    ["init", "bench", argument],
    ["jank", argument],
    [argument],
    ["lab", `--${argument}`],
  ])("%j prints no character that a terminal obeys", async (...args) => {
    const { stdout, stderr } = await cli.run(args, { ...TESTED, NO_COLOR: "1" });
    expect(stdout + stderr).not.toBe("");
    expect(stdout).not.toMatch(OBEYED);
    expect(stderr).not.toMatch(OBEYED);
  });

  test("writes no such character into a report, and no HTML of a record", async () => {
    expect(await cli.run(["report", "shown", "--out", "page.html"])).toMatchObject({ code: 0 });
    const page = readFileSync(cli.path("page.html"), "utf8");
    expect(page).toContain("\\u202e");
    expect(page).not.toMatch(OBEYED);
    expect(page).not.toMatch(/<(?:script|img)\b/);
  });
});
