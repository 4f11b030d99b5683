// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that `make test` never ends early without a message: it names the stages that ran, that failed and that were not reached.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { countOf, excerptOf, reasonOf } from "../../scripts/excerpt.mjs";
import { Progress, processorTimeOf, samplesMax } from "../../scripts/progress.mjs";

const runner = new URL("../../scripts/stages.mjs", import.meta.url).href;

function runStages(
  stages: object[],
  only: string[] = [],
  heard: (child: ChildProcess, text: string) => void = () => {},
  options: object = { lanes: 1 },
): Promise<{ code: number; output: string }> {
  const program = `import { runStages } from "${runner}";
    await runStages("trial", ${JSON.stringify(stages)}, ${JSON.stringify(only)}, ${JSON.stringify(options)});`;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ["--input-type=module", "-e", program], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr });
    });
    child.stdout?.on("data", (text: string) => heard(child, text));
  });
}

const node = (code: string) => ({ command: [process.execPath, "-e", code] });
const fine = { name: "fine", ...node("") };
const broken = { name: "broken", ...node("process.exit(3)") };
const last = { name: "last", ...node("console.log('reached the last')") };

test("a run whose stages all pass says so and exits with status 0", async () => {
  const { code, output } = await runStages([fine, last]);
  expect(code).toBe(0);
  expect(output).toContain("trial: all 2 stages passed");
});

test("a run names a failed stage and still runs the later stages", async () => {
  const { code, output } = await runStages([broken, last]);
  expect(code).toBe(1);
  expect(output).toContain("reached the last");
  expect(output).toMatch(/FAILED {2}broken .*exit status 3/);
  expect(output).toContain("trial: 1 of 2 stages FAILED");
});

test("a run repeats the end of a failed stage's output, and its last line names the failed stages", async () => {
  const loud = node("for (let n = 0; n < 1000; n++) console.log('line ' + n); console.error('why'); process.exit(1)");
  const { output } = await runStages([{ name: "loud", ...loud }, last]);
  const end = output.slice(output.indexOf("trial: loud FAILED (exit status 1)\nline"));
  expect(end).toContain("why");
  expect(end.split("\n").length).toBeLessThan(30);
  expect(end).toContain("\ntrial: 1 of 2 stages FAILED: loud\n");
});

test("the excerpt of a failed Vitest run has each failing test with its message, and no passing test", () => {
  const one = (at: number) => [
    `\u001b[41m FAIL \u001b[49m  node  test/a.test.ts > breaks ${at}`,
    `AssertionError: expected ${at} to be 0`,
    ...Array.from({ length: 30 }, (_, line) => `    ${line}| code`),
    `⎯⎯⎯⎯⎯⎯⎯⎯[${at}/2]⎯`,
    "",
  ];
  const output = [
    " ✓  node  test/b.test.ts",
    "⎯⎯⎯ Failed Tests 2 ⎯⎯⎯",
    ...one(1),
    ...one(2),
    " Tests  2 failed | 9 passed",
  ];
  const lines = excerptOf(output.join("\n")).split("\n");
  for (const at of [1, 2]) {
    expect(lines).toContain(` FAIL   node  test/a.test.ts > breaks ${at}`);
    expect(lines).toContain(`AssertionError: expected ${at} to be 0`);
  }
  expect(lines).toContain(" Tests  2 failed | 9 passed");
  expect(lines.length).toBeLessThanOrEqual(41);
  expect(lines.join()).not.toContain("✓");
});

test("the table begins with the failed stages, each with its reason", async () => {
  const says = node("console.log('app\\nsize limit has exceeded by 1 B\\n' + 'other\\n'.repeat(50)); process.exit(1)");
  const { output } = await runStages([fine, { name: "sizes", ...says }]);
  expect(output).toMatch(
    /\ntrial\n {2}FAILED {2}sizes .*\n {10}app\n {10}size limit has exceeded by 1 B\n {2}ok {6}fine /,
  );
});

test("the reason of a failed Vitest run is its first failing test with the message", () => {
  const excerpt = "⎯⎯ Failed Tests 1 ⎯⎯\n FAIL  node  a.test.ts > breaks\nAssertionError: expected 1 to be 0\n  code";
  expect(reasonOf(excerpt)).toEqual(["FAIL  node  a.test.ts > breaks", "AssertionError: expected 1 to be 0"]);
  expect(reasonOf("one\ntwo")).toEqual(["two"]);
});

test("the reason of a failed Maven run is its first failing test with the message, whatever tests print", () => {
  const output = [
    "this goes to the standard error, and stands between no frames",
    "[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 1.2 s <<< FAILURE! -- in clearway.PoolTest",
    "[ERROR] clearway.PoolTest.breaks -- Time elapsed: 0.1 s <<< FAILURE!",
    "org.opentest4j.AssertionFailedError: expected: <1> but was: <2>",
    ...Array.from({ length: 60 }, (_, line) => `\tat clearway.PoolTest.line${line}(PoolTest.kt:${line})`),
    "[ERROR] Failed to execute goal test on project pool: There are test failures. -> [Help 1]",
  ];
  const excerpt = excerptOf(output.join("\n"));
  expect(excerpt.split("\n")).toEqual([...output.slice(1, 8), output.at(-1)]);
  expect(reasonOf(excerpt)).toEqual(output.slice(2, 4));
  const crash =
    "fine\n[ERROR] The forked VM terminated without saying properly goodbye\n[ERROR] Crashed tests: PoolTest";
  expect(reasonOf(excerptOf(crash))).toEqual(["[ERROR] The forked VM terminated without saying properly goodbye"]);
});

test("a stage after a failed stage is not run and is named with the reason; the others run", async () => {
  const far = { ...fine, name: "far", after: ["near"] };
  const near = { ...fine, name: "near", after: ["broken"] };
  const { code, output } = await runStages([far, near, broken, last]);
  expect(code).toBe(1);
  expect(output).toContain("reached the last");
  expect(output).toContain("not run far: broken failed");
  expect(output).toContain("not run near: broken failed");
  expect(output).toContain("trial: 1 of 4 stages FAILED: broken");
});

test("a stage waits for the stages in its after, whatever their order in the list", async () => {
  const { code, output } = await runStages([{ ...last, after: ["fine"] }, fine], [], undefined, { lanes: 2 });
  expect(code).toBe(0);
  expect(output.indexOf("trial: fine")).toBeLessThan(output.indexOf("trial: last"));
});

test("a stage after an unknown stage is refused by name", async () => {
  const { code, output } = await runStages([{ ...last, after: ["fien"] }]);
  expect(code).toBe(1);
  expect(output).toContain('stage "last" comes after "fien", which is no stage');
});

test("a program that cannot be started fails its stage with the reason", async () => {
  const { code, output } = await runStages([{ name: "gone", command: ["no-such-program-here"] }]);
  expect(code).toBe(1);
  expect(output).toMatch(/no-such-program-here: .*not found/);
});

test("a stage that prints nothing and uses no processor time is ended and named", async () => {
  const { code, output } = await runStages([
    { name: "stuck", ...node("setInterval(() => {}, 1000)"), idleMinutes: 0.01 },
  ]);
  expect(code).toBe(1);
  expect(output).toMatch(/FAILED {2}stuck .*no output and no processor time for 0.01 minutes/);
});

/** Plays samples of processor time, and output before the samples in `spoke`. Returns the first sample at which the stage counts as idle. */
function idleAt(samples: (number | undefined)[], spoke: number[] = []): number {
  const progress = new Progress(30_000);
  return samples.findIndex((cpuMs, at) => {
    if (spoke.includes(at)) progress.output();
    return progress.sample(cpuMs);
  });
}

const times = <Value>(count: number, at: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => at(index));
const zeros = times(900, () => 0);

test("a stage counts as idle after as many samples without progress as fit into the time", () => {
  expect(idleAt(times(100, () => 5000))).toBe(samplesMax); // The first sample has the processor time from before.
  expect(idleAt(times(100, (at) => 5000 + at * 200))).toBe(samplesMax); // A process that polls is idle, too.
});

test("a stage never counts as idle while it computes, prints, or the system does not tell its processor time", () => {
  expect(idleAt(times(1000, (at) => at * 400))).toBe(-1);
  const often = times(50, (at) => at * (samplesMax - 1));
  expect(idleAt(zeros, often)).toBe(-1);
  expect(idleAt(times(1000, () => undefined))).toBe(-1);
});

test.runIf(process.platform === "linux")(
  "the processor time of a stage includes children in other groups",
  async () => {
    const busy = "while (process.cpuUsage().user < 300_000); console.log(process.pid); setInterval(() => {}, 1000)";
    const parent = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(busy)}], { detached: true, stdio: "inherit" })`;
    const child = spawn(process.execPath, ["-e", parent], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const grandchild = Number(await new Promise((resolve) => child.stdout.once("data", resolve)));
    try {
      expect(processorTimeOf(child.pid)).toBeGreaterThan(250); // Linux counts in steps of 10 ms.
    } finally {
      process.kill(grandchild);
      await ended;
    }
  },
);

test("an interrupt ends the running stage, and the run names the stages that were not run", async () => {
  const stages = [{ name: "endless", ...node("console.log('it runs'); setInterval(() => {}, 1000)") }, last];
  let asked = false;
  const { code, output } = await runStages(stages, [], (child, text) => {
    if (asked || !text.includes("it runs")) return;
    asked = true;
    child.kill("SIGINT");
  });
  expect(code).toBe(1);
  expect(output).toMatch(/FAILED {2}endless .*interrupted/);
  expect(output).toContain("not run last");
});

test("a stage with an unknown field is refused with the field's name", async () => {
  const { code, output } = await runStages([{ ...fine, needed: true }]);
  expect(code).toBe(1);
  expect(output).toContain('stage "fine" has a field "needed"');
});

test("stages of two lanes run at the same time, and the output of each is printed in one piece", async () => {
  const folder = mkdtempSync(join(tmpdir(), "clearway-stages-"));
  try {
    // Each of the two stages ends only after the other has begun.
    const meets = (own: string, other: string) =>
      node(`const fs = require("node:fs");
        console.log("${own} begins");
        fs.writeFileSync(${JSON.stringify(join(folder, own))}, "");
        const look = setInterval(() => {
          if (!fs.existsSync(${JSON.stringify(join(folder, other))})) return;
          clearInterval(look);
          console.log("${own} ends");
        }, 5);`);
    const one = { name: "one", ...meets("one", "two"), lane: "a" };
    const two = { name: "two", ...meets("two", "one"), lane: "b" };
    // This stage is listed between the two, but the second lane prefers the stage of its own lane.
    const between = { ...last, lane: "a" };
    const { code, output } = await runStages([one, between, two], [], undefined, { lanes: 2 });
    expect(code).toBe(0);
    expect(output).toMatch(/--- trial: one \([\d.]+ s\)\none begins\none ends\n/);
    expect(output).toMatch(/--- trial: two \([\d.]+ s\)\ntwo begins\ntwo ends\n/);
    expect(output).toMatch(/ok {6}one .*\n {2}ok {6}last .*\n {2}ok {6}two /);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a record has each stage's outcome, time, processor time and number of tests", async () => {
  const record = `out/trial-${process.pid}.json`;
  const path = new URL(`../../${record}`, import.meta.url);
  const counted = { name: "counted", ...node("console.log('12 passed, 0 failed, 1 skipped')") };
  try {
    const { output } = await runStages([counted, broken, { ...fine, after: ["broken"] }], [], undefined, {
      lanes: 1,
      record,
    });
    expect(output).toContain("trial: 12 passed, 0 failed, 1 skipped\n");
    const { stages, notRun, lanes } = JSON.parse(readFileSync(path, "utf8"));
    expect(lanes).toBe(1);
    expect(stages).toEqual([
      {
        name: "counted",
        outcome: "passed",
        ms: expect.any(Number),
        startMs: expect.any(Number),
        cpuMs: expect.any(Number),
        tests: { passed: 12, failed: 0, skipped: 1 },
      },
      {
        name: "broken",
        outcome: "exit status 3",
        startMs: expect.any(Number),
        ms: expect.any(Number),
        cpuMs: expect.any(Number),
      },
    ]);
    expect(notRun).toEqual([{ name: "fine", why: "broken failed" }]);
  } finally {
    rmSync(path, { force: true });
  }
});

test("words select stages by name, and a word without a match is refused", async () => {
  const chosen = await runStages([broken, last], ["last"]);
  expect(chosen).toMatchObject({ code: 0, output: expect.not.stringContaining("broken") });
  const refused = await runStages([fine, last], ["lsat"]);
  expect(refused).toMatchObject({ code: 2, output: expect.stringContaining("no stage is called lsat: fine, last") });
  const withNeeds = await runStages([fine, broken, { ...last, after: ["fine"] }], ["last"]);
  expect(withNeeds).toMatchObject({ code: 0, output: expect.stringContaining("trial: all 2 stages passed") });
});

describe("a stage that has passed", () => {
  const trial = async (change: (folder: string) => void, reads: string[] | undefined, only: string[] = []) => {
    const folder = mkdtempSync(join(tmpdir(), "clearway-passed-"));
    try {
      mkdirSync(join(folder, "part"));
      writeFileSync(join(folder, "part/file"), "one");
      const stage = { name: "of a part", ...node("console.log('it runs')"), ...(reads && { reads }) };
      const options = { lanes: 1, leaveOutPassed: { folder, path: join(folder, "passed.json") } };
      await runStages([stage], [], undefined, options);
      change(folder);
      return await runStages([stage], only, undefined, options);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test("is left out while the files that it reads are the same, and is shown as unchanged", async () => {
    const { code, output } = await trial((folder) => writeFileSync(join(folder, "other"), ""), ["part"]);
    expect(code).toBe(0);
    expect(output).not.toContain("it runs");
    expect(output).toMatch(/ok +of a part +unchanged/);
  });

  const runsAgain: [string, (folder: string) => void, string[] | undefined, string[]?][] = [
    ["a file of its part has changed", (folder) => writeFileSync(join(folder, "part/file"), "two"), ["part"]],
    ["a file of its part is new", (folder) => writeFileSync(join(folder, "part/new"), ""), ["part"]],
    ["a file of its part is gone", (folder) => rmSync(join(folder, "part/file")), ["part"]],
    ["the lock file has changed", (folder) => writeFileSync(join(folder, "package-lock.json"), "{}"), ["part"]],
    ["what it reads is not listed", () => {}, undefined],
    ["it is asked for by name", () => {}, ["part"], ["part"]],
    ["the list of what has passed is cut off", (folder) => writeFileSync(join(folder, "passed.json"), "{"), ["part"]],
  ];
  test.each(runsAgain)("runs again if %s", async (_when, change, reads, only) => {
    expect((await trial(change, reads, only)).output).toContain("it runs");
  });

  test("runs again after it has failed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "clearway-passed-"));
    const options = { lanes: 1, leaveOutPassed: { folder, path: join(folder, "passed.json") } };
    const stage = { name: "of a part", ...node("console.log('it runs'); process.exit(1)"), reads: ["part"] };
    for (const time of ["first", "second"]) {
      const { code, output } = await runStages([stage], [], undefined, options);
      expect([time, code, output.includes("it runs")]).toEqual([time, 1, true]);
    }
    rmSync(folder, { recursive: true });
  });
});

test("a stage's tests are counted from the output of Vitest, cargo and Clearway's own programs", () => {
  expect(countOf("\u001b[2m      Tests \u001b[22m 1 failed | 1946 passed | 2 skipped (1949)")).toEqual({
    passed: 1946,
    failed: 1,
    skipped: 2,
  });
  const cargo = "test result: ok. 8 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.03s";
  expect(countOf(`${cargo}\n\n${cargo}\n`)).toEqual({ passed: 16, failed: 0, skipped: 2 });
  expect(countOf("jvm, JDK 17: 475 passed, 0 failed, 3 skipped")).toEqual({ passed: 475, failed: 0, skipped: 3 });
  expect(countOf("12 passed, 1 failed")).toEqual({ passed: 12, failed: 1, skipped: 0 });
});

test("a stage whose output has no tests has no count", () => {
  expect(countOf("build: clearway\nall well\n")).toBeUndefined();
});
