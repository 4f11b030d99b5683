// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs `clearway init bench` and `clearway bench` as a user does, on small scenario files. Asserts on structure and messages, not on times.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { LabResults } from "../src/engine/answer.js";
import { hasEnded } from "./processes.js";
import { UserFolder } from "./user-folder.js";

const user = new UserFolder();

/** Verifies the ways of a scenario. The time is too short for a pair of processes. */
const bench = (file: string, ...more: string[]) => user.run("bench", file, "--time", "1", ...more);

describe("clearway init bench", () => {
  test.each(["my file.mts", "other.js", "sub/other.mjs"])("writes %s and its tasks", async (file) => {
    const init = await user.run("init", "bench", file);
    expect(init).toMatchObject({ code: 0, stderr: "" });
    const extension = path.extname(file);
    const tasks = file.replace(extension, `.tasks${extension}`);
    expect(init.stdout).toMatch(`${file} and ${tasks} written.`);
    for (const each of [file, tasks]) {
      const text = readFileSync(user.at(each), "utf8");
      expect(text).not.toMatch("SPDX");
      expect(text).not.toMatch(/\bbench\.(tasks\.)?[mc]?[tj]s/);
    }
    const javaScript = tasks.replace(/ts$/, "js").split("/").at(-1);
    expect(readFileSync(user.at(file), "utf8")).toMatch(`import tasks from "./${javaScript}";`);
    // The file loads, and has these ways.
    const { stderr } = await bench(file, "--against", "none");
    expect(stderr).toBe("error: --against none: there is no such way (direct, worker, pool, channel)\n");
  });

  test("writes bench.ts and bench.tasks.ts if no file is named", async () => {
    expect((await user.run("init", "bench")).stdout).toMatch("bench.ts and bench.tasks.ts written.");
  });

  test.each([
    [["bench", "bench.ts"], "bench.ts exists, and init overwrites nothing: name another file"],
    [["bench", "bench.tasks.ts"], "bench.tasks.ts exists, and init overwrites nothing"],
    [["bench", "bench.py"], "bench.py: the name must end in .ts, .mts, .js or .mjs"],
    [["lab"], 'unknown example "lab". Examples: bench'],
  ])("refuses %j and writes nothing", async (args, message) => {
    const before = readdirSync(user.path);
    const { code, stderr } = await user.run("init", ...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(readdirSync(user.path)).toEqual(before);
  });
});

describe("clearway bench", () => {
  test("writes results and a report, and prints the title, also if the time is too short for an answer", async () => {
    user.write(
      "pair.ts",
      `const wait = (ms: number) => { const end = performance.now() + ms; while (performance.now() < end); };
export default { title: "Is it \\"slower\\"?", inputs: { one: 1 }, first: () => { wait(0.1); return 1; }, slower: () => { wait(1); return 1; } };`,
    );
    const { code, stdout, stderr } = await bench("pair.ts", "--out", "pair", "--seed", "7");
    expect(code).toBe(0);
    expect(stderr).toMatch("pair.ts: 2 ways, 1 input; at most 1 s");
    expect(stdout).toMatch('Is it "slower"?');
    const { run, answers } = user.results("pair");
    expect(run).toMatchObject({ kind: "bench", title: 'Is it "slower"?', seed: 7, interrupted: false });
    expect(answers.map(({ name, peer }) => [name, peer])).toEqual([
      ["slower/one", "first"],
      ["slower/one/stall", "first"],
    ]);
    const page = readFileSync(user.at("pair/report.html"), "utf8");
    expect(page).toMatch("<h1>Is it &quot;slower&quot;?</h1>");
    expect((await user.run("report", "pair")).code).toBe(0);
    expect(readFileSync(user.at("pair/report.html"), "utf8")).toBe(page);
  });

  test("prints only results.json with --json, and compares with the way of --against", async () => {
    const { stdout } = await bench("pair.ts", "--out", "pair", "--json", "--against", "slower");
    const printed = JSON.parse(stdout) as LabResults;
    expect(printed).toEqual(user.results("pair"));
    expect(printed.answers.map(({ way, peer }) => [way, peer])).toEqual([
      ["first", "slower"],
      ["first", "slower"],
    ]);
  });

  test("reports each way that fails with its reason, measures the others, and leaves nothing running", async () => {
    user.write(
      "failing.ts",
      `import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
let calls = 0;
export default {
  direct: () => 1,
  throws: () => { throw new TypeError("boom"); },
  throwsText: () => { throw "text"; },
  wrong: () => 2,
  exits: () => process.exit(4),
  kills: () => process.kill(process.pid, "SIGKILL"),
  setup: { setup: async () => { throw new Error("no database"); }, run: () => 1 },
  uncaught: () => { setTimeout(() => { throw new Error("later"); }, 0); return new Promise(() => {}); },
  changes: () => (++calls === 1 ? 1 : 5),
  leaves: {
    setup() {
      setInterval(() => {}, 1000);
      new Worker("setInterval(() => {}, 1000)", { eval: true });
      const { pid } = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
      writeFileSync(new URL("./pid", import.meta.url), String(pid));
    },
    run: () => 1,
  },
  teardown: { run: () => 1, teardown: () => { throw new Error("cannot close"); } },
  prints: () => { console.log("hello"); process.stdout.write("there"); return 1; },
  processPrints: () => { execFileSync("echo", ["hello"], { stdio: "inherit" }); return 1; },
  reads: () => readFileSync(0, "utf8").length + 1,
  channel: () => { writeSync(3, "hello\\n"); return 1; },
};`,
    );
    const { code } = await bench("failing.ts", "--out", "failing");
    expect(code).toBe(1);
    const { answers } = user.results("failing");
    const why = Object.fromEntries(answers.map(({ name, failed }) => [name, failed ?? "ok"]));
    const stalls = Object.keys(why).filter((name) => name.endsWith("/stall"));
    for (const name of stalls) delete why[name];
    expect(why).toEqual({
      throws: "the first call threw TypeError: boom (failing.ts:7)",
      throwsText: 'the first call threw "text"',
      wrong: "its result is 2, but that of direct is 1; if both are right, add `check: (result, input) => …`",
      exits: "the first call threw Error: process.exit(4) was called, which would end the app (failing.ts:10)",
      kills: "its process was killed by SIGKILL before it answered",
      setup: "setup threw Error: no database (failing.ts:12)",
      uncaught: "an error outside its calls was not caught: Error: later (failing.ts:13)",
      changes: "ok",
      leaves: "ok",
      teardown: "ok",
      prints: "ok",
      processPrints: "ok",
      reads: "ok",
      channel: "it wrote to the descriptor 3 of its process, which is the lab's",
    });
    const pid = Number(readFileSync(user.at("pid"), "utf8"));
    expect(hasEnded(pid)).toBe(true);
  });

  test("keeps what was measured on Ctrl-C, and ends the running way", async () => {
    // In its second process, which measures, the way `stuck` says so and then blocks its thread.
    user.write(
      "stuck.ts",
      `import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
const verified = fileURLToPath(new URL("./verified", import.meta.url));
const measuring = fileURLToPath(new URL("./measuring", import.meta.url));
const isSecond = existsSync(verified);
export default {
  direct: () => 1,
  stuck: () => { if (isSecond) { writeFileSync(measuring, String(process.pid)); for (;;); } writeFileSync(verified, ""); return 1; },
};`,
    );
    const args = [user.cli, "bench", "stuck.ts", "--time", "600", "--out", "stuck"];
    const child = spawn(process.execPath, args, { cwd: user.path, env: user.environment });
    const output = { text: "" };
    child.stderr.on("data", (data) => (output.text += data));
    const ended = once(child, "exit");
    const measuring = user.at("measuring");
    const isMeasuring = (): boolean => existsSync(measuring) && readFileSync(measuring, "utf8") !== "";
    while (!isMeasuring() && child.exitCode === null) await new Promise(setImmediate);
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(output.text).toMatch("interrupted: keeping the answers so far");
    const { run, answers } = user.results("stuck");
    expect(run.interrupted).toBe(true);
    expect(answers.map(({ name, verdict }) => [name, verdict])).toEqual([
      ["stuck", "open"],
      ["stuck/stall", "open"],
    ]);
    expect(hasEnded(Number(readFileSync(measuring, "utf8")))).toBe(true);
  });

  test.each<[string, string, string, string[]]>([
    ["a file that does not compile", "export default {", "does not compile:\nbad.ts:1:17: ", []],
    [
      "a package that is missing",
      'import "no-such-package"; export default {}',
      'Could not resolve "no-such-package"',
      [],
    ],
    [
      "a file that throws",
      'throw new Error("at load")',
      "bad.ts: loading the file threw Error: at load (bad.ts:1)",
      [],
    ],
    [
      "a wrong export",
      "export default { inputs: 3, direct: () => 1 }",
      "bad.ts: inputs: it is a number: 3; give each",
      [],
    ],
    [
      "an unknown way",
      "export default { direct: () => 1 }",
      'there is no such way; did you mean "direct"?',
      ["--against", "dircet"],
    ],
    [
      "a duration",
      "export default { direct: () => 1 }",
      '"soon" is not a duration: write milliseconds',
      ["--timeout", "soon"],
    ],
    [
      "an output that is a file",
      "export default { direct: () => 1 }",
      "--out bad.ts is a file; name a folder",
      ["--out", "bad.ts"],
    ],
  ])("refuses %s with status 2 and measures nothing", async (_, text, message, more) => {
    user.write("bad.ts", text);
    const { code, stdout, stderr } = await bench("bad.ts", "--out", "bad", ...more);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
    expect(existsSync(user.at("bad", "results.json"))).toBe(false);
  });

  test("refuses to run without a temporary folder", async () => {
    user.environment.TMPDIR = user.at("none");
    const { code, stderr } = await bench("pair.ts").finally(() => {
      user.environment.TMPDIR = user.at("tmp");
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: pair.ts does not compile:\nno temporary folder can be made \(.*\); set TMPDIR/);
  });

  test.each([
    ["pear.ts", 'pear.ts does not exist; did you mean "pair.ts"?'],
    ["none/pair.ts", "none/pair.ts does not exist; there is no folder none"],
    [".", ". is a folder: name a file in it"],
    ["here.txt", "here.txt is not a TypeScript or JavaScript file"],
  ])("refuses the file %s", async (file, message) => {
    user.write("here.txt", "1");
    const { code, stderr } = await bench(file);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

user.testThatNothingIsLeft();
