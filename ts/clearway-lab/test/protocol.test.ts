// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineSplitter, LineTooLongError, parseLine } from "../src/protocol/lines.js";
import { mismatch } from "../src/protocol/measured.js";
import type { CellRequest, Json } from "../src/protocol/message.js";
import { RunnerClient } from "../src/runner/client.js";

describe("lines", () => {
  test("are returned whole and in order, wherever the text was cut", () => {
    const line = fc.string().filter((text) => text.trim() !== "" && !/[\n]/.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(12)), (lines, cuts) => {
        const text = lines.map((each) => each + "\n").join("");
        const splitter = new LineSplitter();
        const found: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          found.push(...splitter.push(text.slice(at, at + cut)));
          at += cut;
        }
        found.push(...splitter.push(text.slice(at)), ...splitter.end());
        expect(found).toEqual(lines);
      }),
    );
  });

  test("include a last line without a newline", () => {
    const splitter = new LineSplitter();
    expect(splitter.push("one\ntwo")).toEqual(["one"]);
    expect(splitter.end()).toEqual(["two"]);
  });

  test("are refused when they are too long, finished or not", () => {
    const full = () => new LineSplitter(4);
    expect(full().push("1234\n")).toEqual(["1234"]);
    expect(() => full().push("12345\n")).toThrow(LineTooLongError);
    const splitter = full();
    splitter.push("12");
    splitter.push("34");
    expect(() => splitter.push("5")).toThrow('a line is longer than 4 characters; it begins with "12345"');
  });

  test("that are not JSON are quoted in the error", () => {
    expect(() => parseLine("hello")).toThrow('not a JSON line: "hello"');
  });
});

describe("an expected result", () => {
  test("matches itself, whatever its value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: true }), (value) => {
        fc.pre(!JSON.stringify(value).includes("$"));
        const plain = JSON.parse(JSON.stringify(value)) as Json;
        expect(mismatch(plain, plain, {})).toBeUndefined();
      }),
    );
  });

  test("contains parameters by name, as values with their type and inside text", () => {
    const expected = { length: "$rows", last: { name: "student $rows" } };
    expect(mismatch(expected, { length: 3, last: { name: "student 3" }, more: true }, { rows: 3 })).toBeUndefined();
    expect(mismatch(expected, { length: "3", last: { name: "student 3" } }, { rows: 3 })).toBe(
      'result.length: expected 3, got "3"',
    );
    expect(mismatch(expected, { length: 3, last: { name: "student 2" } }, { rows: 3 })).toMatch("result.last.name");
  });

  test("is refused with the name of a parameter that the cell does not have", () => {
    expect(mismatch("$rows", 3, {})).toMatch("the parameter rows");
  });

  test("differs from a missing, null or scalar result", () => {
    expect(mismatch({ a: 1 }, null, {})).toBeDefined();
    expect(mismatch({ a: 1 }, 1, {})).toBeDefined();
    expect(mismatch({ a: 1 }, {}, {})).toBe("result.a: expected 1, got null");
    expect(mismatch([1], { 0: 1 }, {})).toBeDefined();
  });
});

describe("a runner", () => {
  const program = fileURLToPath(new URL("./fake-runner.mjs", import.meta.url));
  const start = () => new RunnerClient({ command: process.execPath, args: [program] });
  const cell = (mechanism: string): CellRequest => ({
    family: "isolate",
    scenario: "tiny",
    mechanism,
    params: {},
    expected: { answer: 7 },
  });

  test("describes, verifies and measures, and ends when it is closed", async () => {
    const runner = start();
    expect((await runner.describe()).runtime).toBe("Fake 1");
    expect((await runner.verify(cell("fast"), 10_000)).verified).toBe(true);
    expect((await runner.measure(cell("fast"), 10_000)).samples["work"]?.n).toBe(100);
    await runner.close();
    await expect(runner.describe()).rejects.toThrow("the runner ended");
  });

  test("reports an error and stays usable", async () => {
    const runner = start();
    await expect(runner.measure(cell("wrong"), 10_000)).rejects.toThrow("the work gave a wrong result");
    expect((await runner.measure(cell("fast"), 10_000)).values["total"]?.value).toBe(5);
    await runner.close();
  });

  test("that dies fails the measurement with its exit code and its last output", async () => {
    const runner = start();
    await expect(runner.measure(cell("dies"), 10_000)).rejects.toThrow(/code=3 .*out of luck/);
    await runner.close();
  });

  test("that writes a line that is not JSON fails the measurement", async () => {
    const runner = start();
    await expect(runner.measure(cell("garbage"), 10_000)).rejects.toThrow("not a JSON line");
    await runner.close();
  });
});
