// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the built command as a user runs it, on Node scripts and with wrong usage. What a stall is explained by is in script.deep.test.ts.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { node24 } from "../../../../scripts/node24.mjs";
import type { JankReport } from "../../src/jank/record.js";
import { builtLab } from "../built-cli.js";
import { hasEnded } from "../processes.js";
import { here, jank, measured, scratch, scripts } from "./run-jank.js";

describe("a script", () => {
  test("gets its arguments, its own output goes to stderr, and its processes do not measure themselves", async () => {
    const file = path.join(scratch, "speaks.mjs");
    writeFileSync(
      file,
      `import { execFileSync, fork } from "node:child_process";
import { Worker } from "node:worker_threads";
if (process.argv[2] === "child") process.exit(0);
console.log("said", process.argv.slice(2).join(" "), "CLEARWAY_JANK_PARENT" in process.env);
execFileSync(process.execPath, [import.meta.filename ?? process.argv[1], "child"]);
fork(process.argv[1], ["child"]).on("exit", (code) => console.log("forked", code));
new Worker("require('node:worker_threads').parentPort.postMessage(1)", { eval: true }).on("message", () => console.log("worked"));`,
    );
    const { code, stdout, stderr, report } = await measured([file, "--", "a", "--b"]);
    expect(code).toBe(0);
    for (const line of ["said a --b false", "forked 0", "worked"]) expect(stderr).toContain(line);
    expect(stdout).not.toContain("said a --b");
    expect(report.subjects[0]!.runs).toHaveLength(1);
  });

  test.each([process.execPath, ...[node24()].flatMap((node) => node ?? [])])(
    "in TypeScript imports ./a.js for ./a.ts, also in a package of CommonJS, in %s",
    async (node) => {
      const folder = mkdtempSync(path.join(scratch, "typed-"));
      writeFileSync(path.join(folder, "package.json"), '{ "type": "commonjs" }');
      writeFileSync(path.join(folder, "words.ts"), "export enum Words { first = 'typed' }\n");
      writeFileSync(path.join(folder, "main.ts"), 'import { Words } from "./words.js";\nconsole.log(Words.first);\n');
      const { code, stderr } = await measured([path.join(folder, "main.ts")], node);
      expect(stderr).toContain("typed");
      expect(code).toBe(0);
    },
  );

  test("that ends its process without notice is reported", async () => {
    const file = path.join(scratch, "dies.mjs");
    writeFileSync(file, `process.kill(process.pid, "SIGKILL");`);
    const { code, report } = await measured([file]);
    expect(code).toBe(1);
    expect(report.subjects[0]!.runs[0]).toMatchObject({
      outcome: "crashed",
      message: "the process of dies.mjs was ended by SIGKILL",
    });
  });

  test("that writes to the tool's channel, and takes the tool's listeners away, fails for lack of a report", async () => {
    const file = path.join(scratch, "hostile.mjs");
    writeFileSync(
      file,
      `import fs from "node:fs";
const lines = ["{bad", "null", "[]", '{"type":"stall"}', '{"type":"stall","stall":{"startMs":"x"}}', '{"type":"begin","beginUs":"x"}'];
fs.writeSync(3, lines.join("\\n") + "\\n");
process.removeAllListeners("exit");
setTimeout(() => {}, 20);`,
    );
    const { code, report } = await measured([file]);
    expect(code).toBe(1);
    expect(report.subjects[0]!.runs[0]).toMatchObject({
      outcome: "failed",
      message: expect.stringContaining("hostile.mjs sent no report"),
    });
  });

  test("that never ends is measured for the time of --wait", async () => {
    const { code, report } = await measured([`${scripts}idle.mjs`, "--wait", "100"]);
    expect(code).toBe(0);
    expect(report.subjects[0]!.runs[0]).toMatchObject({ outcome: "completed" });
    expect(report.subjects[0]!.figures.durationMs).toBeGreaterThanOrEqual(99);
  });

  test("that is stopped before it begins is not stalled since the start of the machine", async () => {
    const file = path.join(scratch, "waiting.mjs");
    writeFileSync(file, "setInterval(() => {}, 1000);");
    const { code, stdout } = await jank([file, "--timeout", "0.001", "--json"]);
    expect(code).toBe(1);
    const { outcome, stalls } = (JSON.parse(stdout) as JankReport).subjects[0]!.runs[0]!;
    expect(outcome).toBe("timeout");
    // On a busy machine, the script may have begun.
    expect(stalls.filter(({ lengthMs }) => lengthMs > 60_000)).toEqual([]);
  });

  test("keeps its files and its status when the reader of the output ends", () => {
    const file = path.join(scratch, "stall.mjs");
    writeFileSync(file, "const end = Date.now() + 60; while (Date.now() < end);");
    const run = `"${process.execPath}" "${path.join(builtLab(), "cli.js")}" jank stall.mjs --budget 5 --out closed`;
    const script = `${run} | true; exit \${PIPESTATUS[0]}`;
    expect(spawnSync("bash", ["-c", script], { cwd: scratch }).status).toBe(1);
    expect(existsSync(path.join(scratch, "closed/jank.json"))).toBe(true);
  });

  test("that is interrupted by Ctrl-C keeps what was measured", async () => {
    const file = path.join(scratch, "waits.mjs");
    writeFileSync(
      file,
      `function block(ms) { const end = performance.now() + ms; while (performance.now() < end); }
setTimeout(() => { block(200); setTimeout(() => console.log("blocked"), 300); }, 20);
setInterval(() => {}, 1000);`,
    );
    let asked = false;
    const { code, stdout, stderr } = await jank([file, "--json"], {}, (text, send) => {
      if (asked || !text.includes("blocked")) return;
      asked = true;
      send("SIGINT");
    });
    expect(code).toBe(130);
    expect(stderr).toContain("interrupted: keeping what was measured");
    expect((JSON.parse(stdout) as JankReport).subjects[0]!.runs[0]!.stalls.length).toBeGreaterThan(0);
  });
});

describe("a script ends with the command", () => {
  let pid: number | undefined;
  /** Notes the number of the script's process when the script has printed it. */
  const hasBegun = (stderr: string): boolean => {
    pid ??= /script=(\d+)\n/.exec(stderr)?.slice(1).map(Number)[0];
    return pid !== undefined;
  };
  afterEach(() => {
    // A failed test leaves the script.
    if (pid !== undefined && !hasEnded(pid)) process.kill(pid, "SIGKILL");
    pid = undefined;
  });

  test("when Ctrl-C is pressed a second time, although the script does not answer", async () => {
    const file = path.join(scratch, "stopped.mjs");
    // A stopped process does not send its data, for which the command waits after the first Ctrl-C.
    writeFileSync(
      file,
      `import fs from "node:fs";
fs.writeSync(2, "script=" + process.pid + "\\n");
process.kill(process.pid, "SIGSTOP");
setInterval(() => {}, 1000);`,
    );
    let pressed = false;
    let again: NodeJS.Timeout | undefined;
    const { code, stdout } = await jank([file], {}, (stderr, send) => {
      // What comes too soon after the first Ctrl-C is a part of it.
      if (stderr.includes("interrupted:")) again ??= setInterval(() => send("SIGINT"), 50);
      else if (!pressed && hasBegun(stderr)) {
        pressed = true;
        send("SIGINT");
      }
    });
    clearInterval(again);
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  });

  test("when its terminal closes, and what was measured is kept", async () => {
    const file = path.join(scratch, "hung-up.mjs");
    writeFileSync(file, `console.log("script=" + process.pid); setInterval(() => {}, 1000);`);
    let asked = false;
    const { code, stdout } = await jank([file, "--json"], {}, (stderr, send) => {
      if (asked || !hasBegun(stderr)) return;
      asked = true;
      send("SIGHUP");
    });
    expect(code).toBe(130);
    expect((JSON.parse(stdout) as JankReport).subjects[0]!.runs[0]!.outcome).toBe("interrupted");
  });
});

describe("the command", () => {
  test("compares with a baseline, judges a budget, and writes a report", async () => {
    const args = [`${scripts}blocks.mjs`, "--against", `${scripts}json.cjs`, "--budget", "20", "--out", "report"];
    const { code, stdout, stderr } = await jank(args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/over budget: longest stall \d+ ms, limit 20\.0 ms/);
    expect(stdout).toContain("one pair of runs");
    expect(stderr).toMatch(/measuring .*blocks\.mjs \(run 1 of 2\)\nmeasuring .*json\.cjs \(run 2 of 2\)/);
    expect(existsSync(path.join(scratch, "report/report.html"))).toBe(true);
    const report = JSON.parse(readFileSync(path.join(scratch, "report/jank.json"), "utf8")) as JankReport;
    expect(report).toMatchObject({
      kind: "clearway-jank",
      version: 1,
      subjects: [{ role: "subject" }, { role: "baseline" }],
    });
  });

  test.each([
    [["blocks.mjs", "--bugdet", "5"], "(Did you mean --budget?)"],
    [["missing.html"], "missing.html does not exist: name an address, an HTML file or a script"],
    [["blocks.mjs", "--click", "#go"], `a Node script has no "click #go"`],
    [["blocks.mjs", "--against", "http://a.test/"], "a page and a script cannot be compared"],
    [["http://a.test/", "b"], "only a Node script takes arguments: b"],
    [["blocks.mjs", "--browser", "firefox"], "--browser is for pages"],
    [["http://a.test/", "--browser", "webkit", "--bypass-csp"], "only Chromium can ignore a page's policy"],
    [["http://a.test/", "--browser", "safari"], "Allowed choices are chromium, firefox, webkit"],
    [["http://a.test/", "--type", "#q"], `a selector, "=" and a text are needed`],
    [[], "missing required argument"],
  ])("refuses wrong usage: %j", async (args, message) => {
    const { code, stdout, stderr } = await jank(args.map((each) => (each === "blocks.mjs" ? scripts + each : each)));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test.each([
    ["chromium", "Set it to the path of a Chromium, or unset it"],
    ["firefox", "Set it to a browser's path, or unset it"],
    ["webkit", "Set it to a browser's path, or unset it"],
  ])("says what to do if the browser is missing: %s", async (browser, message) => {
    const env = { [`CLEARWAY_${browser.toUpperCase()}`]: "/no/such/program" };
    const { code, stderr } = await jank([here("./pages/smooth.html"), "--browser", browser], env);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  test("measures a page that does nothing with status 0", async () => {
    const { code, stdout } = await jank([here("./pages/smooth.html"), "--tail", "0"]);
    expect(code).toBe(0);
    expect(stdout).toContain("smooth.html: ");
  });
});
