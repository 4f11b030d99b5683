// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab --runner`: hosts in other languages. The runner in Python is the one of the documentation.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ForeignUnits } from "../src/cli/foreign-units.js";
import type { Measurement, Unit } from "../src/protocol/message.js";
import { assertResults } from "../src/run/schema.js";
import { RunnerError } from "../src/runner/runner-error.js";
import { withHost } from "../src/scenario/foreign.js";
import { loadScenarios } from "../src/scenario/load.js";
import { planCells } from "../src/scenario/plan.js";
import type { Distribution } from "../src/statistics/distribution.js";
import { BuiltCli, here, TESTED } from "./built-cli.js";

const python = here("../../../examples/lab-runner/students.py");
const runner = `python=python3 "${python}"`;

let cli: BuiltCli;
beforeAll(() => {
  cli = new BuiltCli();
});
afterAll(() => cli.remove());

function results(folder: string) {
  const value: unknown = JSON.parse(readFileSync(cli.path(folder, "results.json"), "utf8"));
  assertResults(value);
  return value;
}

describe("a runner in Python", () => {
  test("is the one of the documentation, and has about 40 lines", () => {
    const code = readFileSync(python, "utf8").trim();
    const page = readFileSync(here("../../../docs/lab/runner-protocol.md"), "utf8");
    expect(page).toContain(`\`\`\`python\n${code}\n\`\`\``);
    expect(code.split("\n").length).toBeLessThanOrEqual(42);
  });

  test("is measured in its own scenario, beside no other host", async () => {
    const { code, stdout, stderr } = await cli.run(
      ["lab", "--profile", "quick", "--runner", runner, "--host", "python", "--rounds", "1", "--out", "an own folder"],
      {},
    );
    expect(stderr).toMatch("2 cells on python, 2 measurements");
    expect(stdout).toMatch("students, on python, 1 000 000 rows");
    expect(code).toBe(0);
    const { run, cells } = results("an own folder");
    expect(run.runtimes).toEqual({ python: expect.stringMatching(/^Python 3/) });
    expect(cells.map(({ host, mechanism, status }) => [host, mechanism, status])).toEqual([
      ["python", "python-dicts", "ok"],
      ["python", "python-tuples", "ok"],
    ]);
    const page = readFileSync(cli.path("an own folder", "report.html"), "utf8");
    expect(page).toMatch("python-dicts");
    expect(page).not.toMatch("stalls of the main thread");
    expect(page.replace(/<script>[\s\S]*?<\/script>/g, "")).not.toMatch("undefined");
    expect((await cli.run(["report", "an own folder"])).code).toBe(0);
  });

  test("may send its times in microseconds, and the report shows them in milliseconds", async () => {
    const text = readFileSync(python, "utf8");
    const changed = text.replace('{"unit": "ms", "value": ns / 1e6}', '{"unit": "us", "value": ns / 1e3}');
    expect(changed).not.toBe(text);
    writeFileSync(cli.path("microseconds.py"), changed);
    const named = `python=python3 "${cli.path("microseconds.py")}"`;
    const args = [
      "lab",
      "--profile",
      "quick",
      "students/python-dicts",
      "--runner",
      named,
      "--host",
      "python",
      "--rounds",
      "1",
    ];
    expect((await cli.run([...args, "--out", "microseconds"])).code).toBe(0);
    const { make, totalRuntime, longestStall } = results("microseconds").cells[0]!.metrics;
    expect(make).toMatchObject({ unit: "ms", n: 1 });
    expect(totalRuntime).toMatchObject({ unit: "ms" });
    expect(longestStall).toEqual(totalRuntime);
    // The runner sends one time as a sample in nanoseconds and as a value. A histogram has three digits.
    const [sample, value] = [(make as Distribution).p50, (totalRuntime as { value: number }).value];
    expect(Math.abs(value / sample - 1)).toBeLessThan(0.01);
  });

  test("is listed with its cells", async () => {
    const { code, stdout } = await cli.run([
      "lab",
      "--profile",
      "quick",
      "list",
      "--host",
      "python",
      "--runner",
      runner,
      "--json",
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      hosts: [{ host: "python", runtime: expect.stringMatching("Python") }],
      scenarios: [
        {
          scenario: "students",
          cells: [
            { cell: "students/python-dicts", on: ["python"], notOn: [] },
            { cell: "students/python-tuples", on: ["python"], notOn: [] },
          ],
        },
      ],
    });
  });
});

describe("a runner that the user names", () => {
  const hostile = (how: string) => `bad="${process.execPath}" "${here("./hostile-runner.mjs")}" "${how}"`;

  test.each([
    [
      "another version",
      /the runner bad \(.*\) cannot be used: the runner speaks version 2 .* update the older of the two/,
    ],
    ["exits at once", /cannot be used: the runner ended: code=3 .*no {2}\[31mmodule named numpy/],
    ["garbage", /cannot be used: the runner's output must be the protocol alone/],
  ])("is refused before anything is measured: %s", async (how, message) => {
    const { code, stdout, stderr } = await cli.run(
      ["lab", "--profile", "quick", "--runner", hostile(how), "--out", "refused"],
      TESTED,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch("To go on: docs/lab/runner-protocol.md");
  });

  test("fails its cell when its result is wrong, and the run goes on", async () => {
    const args = [
      "lab",
      "tiny",
      "--profile",
      "quick",
      "--host",
      "bad",
      "--runner",
      hostile("wrong result"),
      "--rounds",
      "1",
      "--out",
      "wrong",
    ];
    const { code, stdout } = await cli.run(args, TESTED);
    expect(code).toBe(1);
    expect(stdout).toMatch("2 failed");
    expect(results("wrong").cells).toContainEqual(
      expect.objectContaining({
        mechanism: "fast",
        status: "failed",
        why: "the work gave a wrong result: result.answer: expected 7, got 8",
      }),
    );
  });

  test("fails its cell when it lacks the figure that the scenario compares", async () => {
    const lacking = hostile("no compared figure");
    const args = [
      "lab",
      "--profile",
      "quick",
      "tiny",
      "--host",
      "bad",
      "--runner",
      lacking,
      "--rounds",
      "1",
      "--out",
      "lacking",
    ];
    const { code } = await cli.run(args, TESTED);
    expect(code).toBe(1);
    expect(results("lacking").cells[0]?.why).toBe(
      'the runner sent no samples "work", which the scenario compares: work.p50',
    );
  });

  test.each([
    [["--runner", "python"], /it must be NAME=COMMAND/],
    [["--runner", "Py thon=x"], /small letters, digits and hyphens: name="Py thon"/],
    [["--runner", "node=x"], /node is a host of the lab/],
    [["--runner", "a=x", "--runner", "a=y"], /two runners have the name "a"/],
    [
      ["--runner", "python=x", "--host", "pyton"],
      /unknown host "pyton"\. Hosts: node, chromium, jvm, flutter, swift, python\. Did you mean "python"\?/,
    ],
    [["--runner", "python=x", "--profile", "promises"], /measures the lab's own hosts; leave --runner out/],
  ])("is refused as wrong usage: %j", async (args, message) => {
    const { code, stderr } = await cli.run(["lab", "--profile", "quick", ...args], TESTED);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe("the units of a runner that the user names", () => {
  const measurement = (values: Measurement["values"], samples: Measurement["samples"] = {}): Measurement => ({
    ...{ samples, values, result: null, notes: [] },
  });

  test("become those of the report's columns", () => {
    const sent = measurement(
      { totalRuntime: { unit: "us", value: 2500 }, droppedFrames60: { unit: "count", value: 3 } },
      { crossing: { unit: "us", n: 1, hdr: "", raw: [7000] } },
    );
    const { values } = new ForeignUnits().converted(sent, "students", "zig");
    expect(values).toEqual({
      totalRuntime: { unit: "ms", value: 2.5 },
      droppedFrames60: { unit: "frames", value: 3 },
    });
    const inMs = measurement({}, { crossing: { unit: "ms", n: 1, hdr: "", raw: [7000] } });
    expect(new ForeignUnits().converted(inMs, "crossing", "zig").samples).toEqual(sent.samples);
  });

  test.each([
    ["students-jvm", "totalRuntime", "ms"],
    ["channel-worker", "perMessageOfThree", "us"],
    ["upload", "longestStall", "ms"],
    ["remote-call", "perCall", "us"],
  ] as const)("become those of the tables of %s", (scenario, name, unit) => {
    const sent = measurement({ [name]: { unit: unit === "us" ? "ms" : "us", value: 1 } });
    const value = unit === "us" ? 1000 : 0.001;
    expect(new ForeignUnits().converted(sent, scenario, "zig").values).toEqual({ [name]: { unit, value } });
  });

  test("become the first one if the report has no column, for each host", () => {
    const units = new ForeignUnits();
    const converted = (unit: Unit, host: string) =>
      units.converted(measurement({ total: { unit, value: 1 } }), "tiny", host).values["total"];
    expect(converted("us", "zig")).toEqual({ unit: "us", value: 1 });
    expect(converted("ms", "zig")).toEqual({ unit: "us", value: 1000 });
    expect(converted("ms", "odin")).toEqual({ unit: "ms", value: 1 });
  });

  test("are refused with their names if they do not convert", () => {
    const sent = measurement({ totalRuntime: { unit: "MB/s", value: 1 } });
    const problem = 'the runner zig sent "totalRuntime" in MB/s, and the report needs it in us or ms';
    expect(() => new ForeignUnits().converted(sent, "students", "zig")).toThrow(
      new RunnerError("wrong-answer", problem),
    );
  });
});

describe("the cells of another host", () => {
  const scenarios = loadScenarios(here("./scenarios"));
  const cells = (mechanisms: string[]) => {
    const offered = mechanisms.map((mechanism) => ({ scenario: "tiny", mechanism }));
    const all = withHost(scenarios, "zig", { runtime: "Zig 1", mechanisms: offered });
    return planCells(all, "quick", ["node", "zig"]).map(({ host, mechanism, control }) =>
      [host, mechanism.name, ...(control ? ["A/A"] : [])].join(" "),
    );
  };

  test("are those that its runner has, with the parameters of the scenario's first host", () => {
    expect(cells(["fast", "comptime"])).toEqual([
      "node fast",
      "node fast A/A",
      "node stuck",
      "node absent",
      "zig fast",
      "zig fast A/A",
      "zig comptime",
    ]);
  });

  test("are none if its runner has none, or has one of an unknown scenario", () => {
    const without = planCells(scenarios, "quick", ["node"]).map(({ mechanism }) => mechanism.name);
    expect(cells([]).map((name) => name.split(" ")[1])).toEqual(without);
    const offered = [{ scenario: "unknown", mechanism: "fast" }];
    expect(withHost(scenarios, "zig", { runtime: "Zig 1", mechanisms: offered })).toEqual(scenarios);
  });
});
