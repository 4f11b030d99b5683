// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the built command as a user runs it, on Node scripts and with wrong usage. The scripts block for a long time by construction. A test
// measures again until the stall was explained: on a busy machine, the thread may get no core for most of the stall.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FoundStall, JankReport } from "../../src/jank/record.js";
import { RUNS_TYPESCRIPT } from "../../src/jank/typescript.js";
import { builtLab } from "../built-lab.js";
import { hasEnded } from "../has-ended.js";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
// The folder is inside the package, so that Node resolves its dependencies.
const scripts = here("./scripts/");
let scratch: string;

beforeAll(() => {
  scratch = mkdtempSync(path.join(tmpdir(), "clearway-jank-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command. Calls `heard` with what it has written to stderr so far. Resolves when the script has ended too, because the script
 * holds the other end of stderr.
 */
function jank(
  args: string[],
  env: Record<string, string> = {},
  heard?: (stderr: string, send: (signal: NodeJS.Signals) => void) => void,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [path.join(builtLab(), "cli.js"), "jank", ...args], {
      cwd: scratch,
      env: { ...process.env, NO_COLOR: "1", ...env },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      heard?.(stderr, (signal) => child.kill(signal));
    });
    child.on("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}

async function measured(args: string[]): Promise<Ended & { report: JankReport }> {
  const ended = await jank(["--json", ...args]);
  return { ...ended, report: JSON.parse(ended.stdout) as JankReport };
}

const stallIn = ({ subjects }: JankReport, functionName: string): FoundStall | undefined =>
  subjects[0]!.runs[0]!.stalls.find(({ cause }) =>
    [cause.place?.functionName, cause.original?.functionName].includes(functionName),
  );

/** Measures a script until a stall has its cause in `functionName`. */
async function explained(
  args: string[],
  functionName: string,
): Promise<Ended & { report: JankReport; stall: FoundStall }> {
  for (;;) {
    const ended = await measured(args);
    const stall = stallIn(ended.report, functionName);
    if (stall !== undefined) return { ...ended, stall };
  }
}

describe("a script that blocks", () => {
  test("is explained by function and line, and completes", async () => {
    const { code, report, stall } = await explained([`${scripts}blocks.mjs`], "block");
    expect(code).toBe(0);
    expect(report.subjects[0]).toMatchObject({ kind: "script", runs: [{ outcome: "completed" }] });
    const { cause, lengthMs } = stall;
    expect(lengthMs).toBeGreaterThanOrEqual(299);
    expect(cause.place!.url).toMatch(/^file:.*\/blocks\.mjs$/);
    expect(cause.callers.map(({ functionName }) => functionName)).toContain("serve");
  });

  test("in JSON.parse is explained by the function that calls it", async () => {
    const { stall } = await explained([`${scripts}json.cjs`], "readAll");
    expect(stall.cause.code).toContain("JSON.parse(text)");
  });

  test("in a bundle is explained by the original file and function", async () => {
    const file = path.join(scratch, "bundle.mjs");
    const contents = `function countPrimes(until: number): number {
  let found = 0;
  for (let n = 2; performance.now() < until; n++) found += n % 7;
  return found;
}
setTimeout(() => console.error(countPrimes(performance.now() + 300)), 20);`;
    const stdin = { contents, sourcefile: "prime.ts", loader: "ts" } as const;
    await build({ stdin, bundle: true, minify: true, sourcemap: true, format: "esm", outfile: file });
    const { stall } = await explained([file], "countPrimes");
    expect(stall.cause.original).toMatchObject({ functionName: "countPrimes", source: "prime.ts" });
  });
});

test("a script in TypeScript is explained by its own lines", async () => {
  const file = path.join(scratch, "typed.ts");
  writeFileSync(
    path.join(scratch, "burn.ts"),
    `
export interface Job { readonly ms: number }

export function burn({ ms }: Job): void {
  const end: number = performance.now() + ms;
  while (performance.now() < end);
}
`,
  );
  const specifier = RUNS_TYPESCRIPT ? "./burn.ts" : "./burn.js";
  writeFileSync(
    file,
    `import { burn, type Job } from "${specifier}";\nconst job: Job = { ms: 300 };\nsetTimeout(() => burn(job), 20);\n`,
  );
  const { code, stall } = await explained([file], "burn");
  expect(code).toBe(0);
  const { cause } = stall;
  // The profiler decides which line of the function has most samples.
  expect([4, 5, 6]).toContain(cause.original?.line ?? cause.place!.line);
  expect(cause.original?.source ?? cause.place!.url).toContain("burn.ts");
});

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

  test.each([
    ["throws.mjs", 1, "ended with status 1", "broken on purpose"],
    ["exits.mjs", 3, "ended with status 3", ""],
  ])("that ends badly is reported with what was measured: %s", async (name, _, message, own) => {
    const { code, stderr, report } = await explained([scripts + name], "block");
    expect(code).toBe(1);
    expect(stderr).toContain(own);
    expect(report.subjects[0]!.runs[0]).toMatchObject({ outcome: "failed", message: expect.stringContaining(message) });
  });

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

  test("that blocks in native code is stopped at the limit, and the open stall is reported", async () => {
    const file = path.join(scratch, "native.mjs");
    writeFileSync(file, `import { execSync } from "node:child_process";\nexecSync("exec sleep 600");`);
    for (let seconds = 2; ; seconds *= 2) {
      const { report } = await measured([file, "--timeout", String(seconds)]);
      const open = report.subjects[0]!.runs[0]!.stalls.find((stall) => stall.open);
      expect(report.subjects[0]!.runs[0]!.outcome).toBe("timeout");
      if (open === undefined) continue;
      expect(open.cause.because).toContain("the thread did not answer until the end");
      break;
    }
  });

  test("in an endless loop is stopped at the limit, and the loop is named", async () => {
    for (let seconds = 2; ; seconds *= 2) {
      const { code, report } = await measured([`${scripts}endless.mjs`, "--timeout", String(seconds)]);
      expect(code).toBe(1);
      const [run] = report.subjects[0]!.runs;
      expect(run!.outcome).toBe("timeout");
      if (run!.last?.place?.functionName === "spin" && stallIn(report, "spin") !== undefined) break;
    }
  });

  test("that never ends is measured for the time of --wait", async () => {
    const { code, report } = await measured([`${scripts}idle.mjs`, "--wait", "100"]);
    expect(code).toBe(0);
    expect(report.subjects[0]!.runs[0]).toMatchObject({ outcome: "completed" });
    expect(report.subjects[0]!.figures.durationMs).toBeGreaterThanOrEqual(99);
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
    let presses = 0;
    const { code } = await jank([file], {}, (stderr, send) => {
      const due = stderr.includes("interrupted:") ? 2 : hasBegun(stderr) ? 1 : 0;
      for (; presses < due; presses++) send("SIGINT");
    });
    expect({ code, presses }).toEqual({ code: 130, presses: 2 });
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
    expect(stdout).toContain("compared with");
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
    [["http://a.test/", "--type", "#q"], `a selector, "=" and a text are needed`],
    [[], "missing required argument"],
  ])("refuses wrong usage: %j", async (args, message) => {
    const { code, stdout, stderr } = await jank(args.map((each) => (each === "blocks.mjs" ? scripts + each : each)));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("says what to do if Chromium is missing", async () => {
    const { code, stderr } = await jank([here("./pages/smooth.html")], { CLEARWAY_CHROMIUM: "/no/such/program" });
    expect(code).toBe(1);
    expect(stderr).toContain("Set it to the path of a Chromium, or unset it");
  });

  test("measures a page that does nothing with status 0", async () => {
    const { code, stdout } = await jank([here("./pages/smooth.html"), "--tail", "0"]);
    expect(code).toBe(0);
    expect(stdout).toContain("smooth.html: ");
  });
});
