// SPDX-License-Identifier: MIT OR Apache-2.0
// The output folder of a run: it is checked before anything is measured, it is one lab's, and foreign files in it stay as they are.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fillDisk } from "../../../test/full-disk.mjs";
import { FailedError, UsageError } from "../src/cli/errors.js";
import { keepRun } from "../src/cli/keep-run.js";
import { LOCK_FILE, lockFolder } from "../src/cli/lock.js";
import { openOut, readableError } from "../src/cli/out-folder.js";
import { RUN_FILES, readRun, writeRun } from "../src/cli/run-files.js";
import { FORMAT_NAMES, FORMATS } from "../src/export/formats.js";
import { processStart } from "../src/machine/process-start.js";
import { resultsOf } from "../src/run/results.js";
import { BuiltCli, TESTED } from "./built-cli.js";
import { record } from "./record.js";

const scratch = mkdtempSync(path.join(tmpdir(), "clearway out-"));
afterAll(() => {
  chmodSync(scratch, 0o755);
  rmSync(scratch, { recursive: true, force: true });
});
const at = (...names: string[]) => path.join(scratch, ...names);

let folders = 0;
function folder(files: Record<string, string> = {}): string {
  const own = at(`folder ${folders++}`);
  mkdirSync(own);
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(own, name), text);
  return own;
}

function caught(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it threw nothing");
}

describe("an output folder", () => {
  test("is created, and removed again if the run leaves it empty", () => {
    const out = openOut(at("new"), RUN_FILES);
    expect(readdirSync(at("new"))).toEqual([LOCK_FILE]);
    out.close();
    expect(existsSync(at("new"))).toBe(false);
    out.close();
  });

  test("stays if it was there before or has files, without the lock", () => {
    const there = folder({ "notes.txt": "mine" });
    openOut(there, RUN_FILES).close();
    expect(readdirSync(there)).toEqual(["notes.txt"]);
  });

  test("is refused if it is a file, or if its parent does not exist", () => {
    writeFileSync(at("a file"), "");
    const file = caught(() => openOut(at("a file"), RUN_FILES));
    expect([file instanceof UsageError, file.message]).toEqual([
      true,
      `--out ${at("a file")} is a file; name a folder`,
    ]);
    const orphan = caught(() => openOut(at("none", "deep"), RUN_FILES));
    expect(orphan).toBeInstanceOf(UsageError);
    expect(orphan.message).toMatch(`the folder ${at("none")} does not exist; create it with mkdir -p "${at("none")}"`);
    expect(existsSync(at("none"))).toBe(false);
  });

  test("is refused if it cannot be written, with the cause and the remedy", () => {
    // A user without rights cannot write to a folder of mode 555. In /sys, the administrator cannot either.
    const closed = process.getuid?.() === 0 ? "/sys/kernel" : folder();
    if (closed !== "/sys/kernel") chmodSync(closed, 0o555);
    const problem = caught(() => openOut(path.join(closed, "out"), RUN_FILES));
    expect(problem).toBeInstanceOf(FailedError);
    expect(problem.message).toMatch(/cannot write .*: .* \((EACCES|EPERM|EROFS)\)\. To go on: .*--out/);
  });

  test.each([
    ["results.json", '{"my": "own results"}'],
    ["results.json", "not JSON at all"],
    ["results.json", '{"version": 1, "profile": "quick"}'],
    ["record.json", "[]"],
    ["report.html", "<!doctype html><title>My page</title>"],
  ])("is refused if it holds a foreign %s: %s", (name, text) => {
    const own = folder({ [name]: text });
    const problem = caught(() => openOut(own, RUN_FILES));
    expect(problem).toBeInstanceOf(UsageError);
    expect(problem.message).toMatch(
      `${name} in it was not written by the lab, and would be overwritten; choose another`,
    );
    expect(readdirSync(own)).toEqual([name]);
    expect(readFileSync(path.join(own, name), "utf8")).toBe(text);
  });

  test("is refused if a file of a run is a folder there", () => {
    const own = folder();
    mkdirSync(path.join(own, "results.json"));
    expect(caught(() => openOut(own, RUN_FILES)).message).toMatch("results.json in it was not written by the lab");
  });

  test("is taken again for the next run, also after a run that left an empty file", async () => {
    const own = folder();
    await writeRun(own, resultsOf(record()), record());
    writeFileSync(path.join(own, "promises.json"), "");
    openOut(own, [...RUN_FILES, "promises.json"]).close();
    expect(readdirSync(own).sort()).toEqual([...RUN_FILES, "promises.json"].sort());
  });
});

describe("an earlier export", () => {
  const source = { file: "record.json", record: record(), results: resultsOf(record()) };

  test.each(FORMAT_NAMES)("may be replaced by a new one: %s", (name) => {
    const { files } = FORMATS[name].convert(source);
    expect(files.length).toBeGreaterThan(0);
    for (const { text } of files) expect(FORMATS[name].isOwn(text.slice(0, 2000), text)).toBe(true);
  });

  test.each([
    ["jetpack", '{\n    "context": {\n        "build": { "brand": "google" }\n    }\n}'],
    ["jmh", '[\n    {\n        "jmhVersion" : "1.37",\n        "jvm" : "/usr/bin/java"\n    }\n]'],
    ["bmf", '{\n  "their::bench": {\n    "latency": { "value": 1 }\n  }\n}'],
    ["hgrm", "my notes"],
    ["hlog", "#[Histogram log format version 1.3]\n#[StartTime: 1.0]\n"],
    ["openmetrics", "# TYPE http_requests counter\n"],
    ["markdown", "# My own page\n"],
  ] as const)("is not what another tool wrote in its format: %s", (name, head) => {
    const [file] = FORMATS[name].convert(source).files;
    expect(FORMATS[name].isOwn(head, file!.text)).toBe(false);
  });
});

describe("an error of the file system", () => {
  test.each([
    ["ENOSPC", /the disk is full \(ENOSPC\)\. To go on: remove files, or choose a folder on another disk/],
    ["EDQUOT", /quota/],
    ["EROFS", /read-only/],
    ["EACCES", /no permission/],
    ["EWEIRD", /it is odd \(EWEIRD\)/],
  ])("says what to do: %s", (code, message) => {
    const error = Object.assign(new Error("it is odd"), { code, syscall: "write", path: "/out/results.json" });
    const found = readableError(error, "/out") as Error;
    expect(found).toBeInstanceOf(FailedError);
    expect(found.message).toMatch(message);
    expect(found.message).toMatch("/out/results.json");
  });

  test("leaves errors of other kinds as they are", () => {
    const error = new TypeError("a mistake");
    expect(readableError(error, "/out")).toBe(error);
    expect(readableError("text", "/out")).toBe("text");
  });
});

describe("a run whose folder is full at its end", () => {
  test("is kept in another folder, and leaves the old results", async () => {
    const own = folder({ "results.json": '{\n  "version": 1,\n  "run": {}\n}' });
    const run = record();
    const empty = fillDisk(own, 0);
    onTestFinished(empty);
    const problem = await keepRun(own, (where) => writeRun(where, resultsOf(run), run)).catch((error: Error) => error);
    expect(problem).toBeInstanceOf(FailedError);
    const message = (problem as Error).message;
    expect(message).toMatch(/the disk is full \(ENOSPC\)/);
    const kept = /the run is kept in (\S+)\. To go on/.exec(message)?.[1] ?? "";
    expect(readdirSync(kept).sort()).toEqual([...RUN_FILES].sort());
    expect(readFileSync(path.join(own, "results.json"), "utf8")).toMatch('"run": {}');
    expect(readdirSync(own)).toEqual(["results.json"]);
    rmSync(kept, { recursive: true });
  });

  test.each(RUN_FILES.map((name, at) => [name, at] as const))(
    "leaves all files of the old run if one cannot be written: %s",
    async (_, at) => {
      const own = folder();
      await writeRun(own, resultsOf(record()), record());
      const textOf = (name: string) => readFileSync(path.join(own, name), "utf8");
      const before = RUN_FILES.map(textOf);
      onTestFinished(fillDisk(own, at));
      const next = { ...record(), startedAt: "2027-01-01T00:00:00.000Z" };
      await expect(writeRun(own, resultsOf(next), next)).rejects.toThrow("ENOSPC");
      expect(RUN_FILES.map(textOf)).toEqual(before);
      expect(readdirSync(own).sort()).toEqual([...RUN_FILES].sort());
    },
  );

  test("fails with its own error if it is not the file system's", async () => {
    const error = new Error("not a results file");
    await expect(keepRun(folder(), () => Promise.reject(error))).rejects.toBe(error);
  });
});

describe("a folder with the results of one run and the record of another", () => {
  test.each([
    ["startedAt", { startedAt: "2027-01-01T00:00:00.000Z" }],
    ["seed", { seed: record().seed + 1 }],
  ])("is refused: %s", async (field, change) => {
    const own = folder();
    await writeRun(own, resultsOf(record()), record());
    writeFileSync(path.join(own, "record.json"), JSON.stringify({ ...record(), ...change }));
    const problem = caught(() => readRun(own));
    expect(problem).toBeInstanceOf(UsageError);
    expect(problem.message).toMatch(`results.json at /run/${field}: the record.json next to it is of another run: `);
  });
});

describe("the lock of a folder", () => {
  const holder = (more: object) =>
    JSON.stringify({ pid: process.pid, start: processStart(process.pid), machine: hostname(), since: "then", ...more });

  test("refuses a second lab with the first one's number, and leaves its lock", async () => {
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    await once(child, "spawn");
    const pid = child.pid as number;
    const own = folder({ [LOCK_FILE]: holder({ pid, start: processStart(pid) }) });
    const problem = caught(() => openOut(own, RUN_FILES));
    expect(problem).toBeInstanceOf(FailedError);
    expect(problem.message).toMatch(`another lab measures into ${own}: pid=${pid} `);
    expect(problem.message).toMatch(`To go on: wait until it ends, stop it (kill ${pid}), or choose another folder`);
    expect(readdirSync(own)).toEqual([LOCK_FILE]);
    child.stdin.end();
    await once(child, "exit");
    const lock = lockFolder(own);
    expect(lock.takenFrom).toBe(pid);
    lock.release();
    expect(readdirSync(own)).toEqual([]);
  });

  test("refuses a second lab in the same process", () => {
    const own = folder();
    const first = lockFolder(own);
    expect(caught(() => lockFolder(own)).message).toMatch(`pid=${process.pid}`);
    first.release();
    lockFolder(own).release();
    expect(readdirSync(own)).toEqual([]);
  });

  test("is taken over if its number belongs to another process now", () => {
    const own = folder({ [LOCK_FILE]: holder({ start: "1" }) });
    // Where the system does not say when a process started, the number alone counts.
    if (processStart(process.pid) === null) return;
    const lock = lockFolder(own);
    expect(lock.takenFrom).toBe(process.pid);
    lock.release();
  });

  test("is not taken over from another machine", () => {
    const own = folder({ [LOCK_FILE]: holder({ pid: 1, start: "1", machine: "another machine" }) });
    expect(caught(() => lockFolder(own)).message).toMatch(
      /machine=another machine .*remove .*lab\.lock if that lab has/,
    );
  });

  test.each(["", "hello", "{}", '{"pid": -1, "machine": "x"}', "null"])("is refused if no lab wrote it: %j", (text) => {
    const own = folder({ [LOCK_FILE]: text });
    const problem = caught(() => lockFolder(own));
    expect(problem).toBeInstanceOf(FailedError);
    expect(problem.message).toMatch("lab.lock is not the lock of a lab. To go on: move the file away");
    expect(readFileSync(path.join(own, LOCK_FILE), "utf8")).toBe(text);
    expect(readdirSync(own)).toEqual([LOCK_FILE]);
  });

  test("is released only by its holder", () => {
    const own = folder();
    const lock = lockFolder(own);
    writeFileSync(path.join(own, LOCK_FILE), holder({ since: "later" }));
    lock.release();
    expect(readdirSync(own)).toEqual([LOCK_FILE]);
  });
});

describe("clearway lab --out", () => {
  let cli: BuiltCli;
  beforeAll(() => {
    cli = new BuiltCli();
  });
  afterAll(() => cli.remove());

  test("checks the folder before it starts a runner", async () => {
    mkdirSync(cli.path("foreign"));
    writeFileSync(cli.path("foreign", "results.json"), "[]");
    const broken = { ...TESTED, CLEARWAY_LAB_RUNNER: "/nowhere" };
    const { code, stdout, stderr } = await cli.run(["lab", "tiny/fast", "--out", "foreign"], broken);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "error: --out foreign: results.json in it was not written by the lab, and would be overwritten; choose another folder, or move the file away\n",
    );
  });

  test("takes over the lock of a lab that was killed", async () => {
    const { pid } = spawnSync(process.execPath, ["-e", "0"]);
    mkdirSync(cli.path("killed"));
    const lock = { pid, start: null, machine: hostname(), since: "2026-01-01T00:00:00.000Z" };
    writeFileSync(cli.path("killed", LOCK_FILE), JSON.stringify(lock));
    const args = ["lab", "tiny/fast", "--host", "node", "--rounds", "1", "--out", "killed"];
    const { code, stderr } = await cli.run(args, TESTED);
    expect(code).toBe(0);
    expect(stderr).toMatch(`took over killed/lab.lock of a lab that has ended: pid=${pid}`);
    expect(readdirSync(cli.path("killed")).sort()).toEqual(["record.json", "report.html", "results.json"]);
  });
});

describe("--out of the other commands", () => {
  let cli: BuiltCli;
  beforeAll(() => {
    cli = new BuiltCli();
    writeFileSync(cli.path("pair.mjs"), "export default { direct: () => 1, other: () => 1 };\n");
    writeFileSync(cli.path("quick.mjs"), "console.log(1);\n");
  });
  afterAll(() => cli.remove());

  const bench = ["bench", "pair.mjs", "--rounds", "1", "--time", "5ms", "--out"];
  const jank = ["jank", "quick.mjs", "--out"];

  test.each([
    ["bench", bench, "results.json", "the lab"],
    ["bench", bench, "report.html", "the lab"],
    ["jank", jank, "jank.json", "clearway jank"],
    ["jank", jank, "report.html", "clearway jank"],
  ])("leaves a foreign file and measures nothing: %s, %#", async (command, args, name, writer) => {
    const own = `${command} ${name}`;
    mkdirSync(cli.path(own));
    writeFileSync(cli.path(own, name), "<!doctype html><title>Mine</title>");
    expect(await cli.run([...args, own])).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: --out ${own}: ${name} in it was not written by ${writer}, and would be overwritten; choose another folder, or move the file away\n`,
    });
    expect(readdirSync(cli.path(own))).toEqual([name]);
    expect(readFileSync(cli.path(own, name), "utf8")).toBe("<!doctype html><title>Mine</title>");
  });

  test.each([
    ["bench", bench, ["record.json", "report.html", "results.json"]],
    ["jank", jank, ["jank.json", "report.html"]],
  ])("creates missing parents, and replaces its own files: %s", async (command, args, files) => {
    const own = `deep/${command}/out`;
    for (let run = 0; run < 2; run++) expect((await cli.run([...args, own])).code).toBe(0);
    expect(readdirSync(cli.path(own)).sort()).toEqual(files);
  });

  test.each([
    ["bench", bench, 0, ["record.json", "report.html", "results.json"]],
    ["jank", jank, 0, ["jank.json", "report.html"]],
    ["jank", jank, 1, ["jank.json", "report.html"]],
  ])("keeps a run in another folder when the disk is full at its end: %s, %#", async (command, args, at, files) => {
    const own = `full ${command} ${at}`;
    mkdirSync(cli.path(own));
    const { code, stderr } = await cli.run([...args, own], {
      NODE_OPTIONS: `--import ${new URL("../../../test/full-disk.mjs", import.meta.url).href}`,
      CLEARWAY_TEST_FULL_FOLDER: cli.path(own),
      CLEARWAY_TEST_FULL_AT: String(at),
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/the disk is full \(ENOSPC\)/);
    const kept = /the run is kept in (\S+)\. To go on/.exec(stderr)?.[1] ?? "";
    expect(readdirSync(kept).sort()).toEqual(files);
    rmSync(kept, { recursive: true });
    expect(readdirSync(cli.path(own))).toEqual([]);
  });

  test("leaves a foreign file and the run's own files: export", async () => {
    const { code } = await cli.run(["lab", "tiny/fast", "--host", "node", "--rounds", "1", "--out", "run"], TESTED);
    expect(code).toBe(0);
    writeFileSync(cli.path("notes.md"), "# Notes\n");
    for (const target of ["notes.md", "run/record.json"]) {
      const before = readFileSync(cli.path(target), "utf8");
      expect(await cli.run(["export", "markdown", "run", "--out", target])).toEqual({
        code: 2,
        stdout: "",
        stderr: `error: ${target} was not written by \`clearway export markdown\`, and would be overwritten; name another place with --out, or move it away\n`,
      });
      expect(readFileSync(cli.path(target), "utf8")).toBe(before);
    }
    for (let time = 0; time < 2; time++)
      expect((await cli.run(["export", "markdown", "run", "--out", "run.md"])).code).toBe(0);
  });
});
