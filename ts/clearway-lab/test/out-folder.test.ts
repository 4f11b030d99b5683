// SPDX-License-Identifier: MIT OR Apache-2.0
// The output folder of a run: it is checked before anything is measured, and foreign files in it stay as they are.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fillDisk } from "../../../test/full-disk.mjs";
import { keepRun, makeFolders, openOut, readableError } from "../src/cli/out-folder.js";
import { FailedError, UsageError } from "../src/cli/print.js";
import { RUN_FILES, writeAnswers } from "../src/cli/run-files.js";
import { answered } from "./answered.js";
import { BuiltCli, TESTED } from "./built-cli.js";

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
    expect(readdirSync(at("new"))).toEqual([]);
    out.close();
    expect(existsSync(at("new"))).toBe(false);
    out.close();
  });

  test("stays if it was there before or has files", () => {
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
    await writeAnswers(own, answered());
    writeFileSync(path.join(own, "report.html"), "");
    openOut(own, RUN_FILES).close();
    expect(readdirSync(own).sort()).toEqual([...RUN_FILES].sort());
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
    const empty = fillDisk(own, 0);
    onTestFinished(empty);
    const problem = await keepRun(own, (where) => writeAnswers(where, answered())).catch((error: Error) => error);
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
      await writeAnswers(own, answered());
      const textOf = (name: string) => readFileSync(path.join(own, name), "utf8");
      const before = RUN_FILES.map(textOf);
      onTestFinished(fillDisk(own, at));
      await expect(writeAnswers(own, answered("bench"))).rejects.toThrow("ENOSPC");
      expect(RUN_FILES.map(textOf)).toEqual(before);
      expect(readdirSync(own).sort()).toEqual([...RUN_FILES].sort());
    },
  );

  test("fails with its own error if it is not the file system's", async () => {
    const error = new Error("not a results file");
    await expect(keepRun(folder(), () => Promise.reject(error))).rejects.toBe(error);
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
    const { code, stdout, stderr } = await cli.run(["lab", "codec", "--out", "foreign"], broken);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "error: --out foreign: results.json in it was not written by the lab, and would be overwritten; choose another folder, or move the file away\n",
    );
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

  const bench = ["bench", "pair.mjs", "--time", "1", "--out"];
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
    ["bench", bench, ["report.html", "results.json"]],
    ["jank", jank, ["jank.json", "report.html"]],
  ])("creates missing parents, and replaces its own files: %s", async (command, args, files) => {
    const own = `deep/${command}/out`;
    for (let run = 0; run < 2; run++) expect((await cli.run([...args, own])).code).toBe(0);
    expect(readdirSync(cli.path(own)).sort()).toEqual(files);
  });

  test.each([
    ["bench", bench, 0, ["report.html", "results.json"]],
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
});

describe("makeFolders", () => {
  test("creates a folder and its parents, and keeps a folder that exists", () => {
    const folder = path.join(scratch, "a", "b", "c");
    makeFolders(folder);
    makeFolders(folder);
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  test("throws for a path below a file, and creates nothing", () => {
    const file = path.join(scratch, "file");
    writeFileSync(file, "");
    expect(() => makeFolders(file)).toThrow("EEXIST");
    expect(() => makeFolders(path.join(file, "x", "y"))).toThrow("ENOTDIR");
  });

  test("throws for a link to nothing", () => {
    const link = path.join(scratch, "link");
    symlinkSync(path.join(scratch, "nothing"), link);
    expect(() => makeFolders(link)).toThrow("EEXIST");
  });

  test.runIf(existsSync("/proc/self"))("throws in a folder that never has new ones", () => {
    expect(() => makeFolders("/proc/clearway-test/out")).toThrow("ENOENT");
  });
});

// A link in a run's folder, which another user of the folder may have made, leads no command to a foreign file.

describe("a command", () => {
  const cli = new BuiltCli();
  afterAll(() => cli.remove());

  test("writes through no link: report", async () => {
    mkdirSync(cli.path("linked"));
    writeFileSync(cli.path("linked/results.json"), JSON.stringify(answered()));
    writeFileSync(cli.path("foreign"), "theirs");
    symlinkSync(cli.path("foreign"), cli.path("linked/report.html.part"));
    expect((await cli.run(["report", "linked"])).code).toBe(0);
    rmSync(cli.path("linked/report.html"));
    symlinkSync(cli.path("gone"), cli.path("linked/report.html"));
    expect(await cli.run(["report", "linked"])).toMatchObject({ code: 1, stderr: expect.stringContaining("ELOOP") });
    expect(existsSync(cli.path("gone"))).toBe(false);
    expect(readFileSync(cli.path("foreign"), "utf8")).toBe("theirs");
  });
});
