// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeping a run: what is kept, what is refused, and that nothing else changes.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { Command } from "commander";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { readSource } from "../../src/cli/export.js";
import { addKeep } from "../../src/cli/keep.js";
import { readRun } from "../../src/cli/run-files.js";
import { compareKeptRuns } from "../../src/compare/compare-kept-runs.js";
import { readKeptRun } from "../../src/compare/kept-run.js";
import { keep } from "../../src/records/keep.js";
import { machineKey, machineSlug, recordName } from "../../src/records/record-name.js";
import { reportHtml } from "../../src/report/report.js";
import type { RunRecord } from "../../src/run/record.js";
import { packedText, readText } from "../../src/run/record-file.js";
import { resultsOf } from "../../src/run/results.js";
import { cell, record } from "../record.js";
import { askedRecord, Scratch } from "./kept-record.js";

const scratch = new Scratch();
afterAll(() => rmSync(scratch.path, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

let folders = 0;
const fresh = () => scratch.folder(`records-${++folders}`);

function messageOf(run: string, records = fresh()): string {
  try {
    keep(run, records);
  } catch (error) {
    expect(["KeptRunError", "KeepError"]).toContain((error as Error).name);
    if (existsSync(records)) expect(readdirSync(records).filter((name) => name.startsWith("."))).toEqual([]);
    return (error as Error).message;
  }
  throw new Error("it was kept");
}

describe("a kept run", () => {
  test("has two files in a folder named by its day and machine", () => {
    const { folder, bytes } = keep(scratch.run(askedRecord()), fresh());
    expect(path.basename(folder)).toBe("2026-01-02-a-cpu-8-cores");
    expect(readdirSync(folder).sort()).toEqual(["record.json.gz", "results.json"]);
    const sizes = readdirSync(folder).map((name) => readFileSync(path.join(folder, name)).length);
    expect(bytes).toBe(sizes[0]! + sizes[1]!);
  });

  test("is read back by compare, export and report, with the figures of the run", () => {
    const own = record();
    const run = scratch.run(own);
    const { folder } = keep(run, fresh());
    const packed = path.join(folder, "record.json.gz");
    for (const source of [folder, packed, path.join(folder, "results.json")])
      expect(readKeptRun(source)).toEqual({ file: packed, record: own });
    const compared = compareKeptRuns(readKeptRun(run), readKeptRun(folder));
    expect(compared.sameRun).toBe(true);
    expect(compared.differences).toEqual([]);
    expect(readSource(folder)).toEqual({ file: packed, record: own, results: resultsOf(own) });
    expect(readSource(packed).record).toEqual(own);
    const { results, record: read } = readRun(folder);
    expect(reportHtml(results, read)).toBe(reportHtml(resultsOf(own), own));
  });

  test("has the same bytes each time, on every operating system", () => {
    const run = scratch.run(askedRecord());
    const [first, second] = [fresh(), fresh()].map((records) =>
      readFileSync(path.join(keep(run, records).folder, "record.json.gz")),
    );
    expect(first!.equals(second!)).toBe(true);
    expect(first![9]).toBe(255);
    expect(gunzipSync(packedText("a text")).toString()).toBe("a text");
  });

  test("gets a number if the machine has another run of that day, and replaces nothing", () => {
    const records = fresh();
    mkdirSync(path.join(records, "2026-01-02-a-cpu-8-cores"), { recursive: true });
    writeFileSync(path.join(records, "2026-01-02-a-cpu-8-cores", "mine.txt"), "mine");
    writeFileSync(path.join(records, "2026-01-02-a-cpu-8-cores-2"), "a file");
    const kept = [1, 2].map((seed) =>
      path.basename(keep(scratch.run(askedRecord({ more: { seed } })), records).folder),
    );
    expect(kept).toEqual(["2026-01-02-a-cpu-8-cores-3", "2026-01-02-a-cpu-8-cores-4"]);
    expect(readFileSync(path.join(records, "2026-01-02-a-cpu-8-cores", "mine.txt"), "utf8")).toBe("mine");
    expect(readFileSync(path.join(records, "2026-01-02-a-cpu-8-cores-2"), "utf8")).toBe("a file");
  });

  test("leaves the run as it was", () => {
    const run = scratch.run(askedRecord());
    const before = readdirSync(run).map((name) => readFileSync(path.join(run, name), "utf8"));
    keep(run, fresh());
    expect(readdirSync(run).map((name) => readFileSync(path.join(run, name), "utf8"))).toEqual(before);
  });
});

describe("keep refuses", () => {
  test.each<[string, Partial<RunRecord>, RegExp]>([
    [
      "an interrupted run",
      { interrupted: true, done: 3, planned: 12 },
      /interrupted after 3 of 12 measurements: go on with clearway lab resume/,
    ],
    ["a run that is not complete", { done: 3, planned: 12 }, /not complete: done=3, planned=12/],
    ["a run without a measurement", { cells: [] }, /the run has no measurement/],
    [
      "a start that is no time",
      { startedAt: "../../2026-01-02" },
      /at \/startedAt: it is no time of a run: "\.\.\/\.\.\/2026/,
    ],
    ["a day that does not exist", { startedAt: "2026-13-45T00:00:00.000Z" }, /it is no time of a run/],
  ])("%s", (_, more, problem) => {
    expect(messageOf(scratch.run(askedRecord({ more })))).toMatch(problem);
  });

  test("a folder whose run has not ended", () => {
    const run = scratch.run(askedRecord(), { "unfinished/run.json": "{}" });
    expect(messageOf(run)).toMatch(/has an unfinished run: go on with clearway lab resume/);
  });

  test("a folder that is no run, results of another run, and a damaged record", () => {
    expect(messageOf(scratch.folder("nowhere"))).toMatch(/does not exist: name the folder/);
    const foreign = scratch.run(askedRecord(), {
      "results.json": JSON.stringify(resultsOf(askedRecord({ more: { seed: 99 } }))),
    });
    expect(messageOf(foreign)).toMatch(/the record.json next to it is of another run/);
    const damaged = askedRecord();
    const run = scratch.run(damaged);
    damaged.cells[0]!.rounds[0]!.measurement.samples["latency"] = { unit: "us", n: 1, hdr: "no histogram" };
    writeFileSync(path.join(run, "record.json"), JSON.stringify(damaged));
    expect(messageOf(run)).toMatch(/no results follow from its rounds/);
  });

  test("the figures of the profile promises, and says where they belong", () => {
    const run = scratch.folder("promises");
    mkdirSync(run);
    writeFileSync(path.join(run, "promises.json"), "{}");
    expect(messageOf(run)).toMatch(
      /profile promises, which have no rounds for a trend: copy .*promises.json to lab\/records/,
    );
  });

  test("a run that is kept already, under any name", () => {
    const records = fresh();
    const run = scratch.run(askedRecord());
    const { folder } = keep(run, records);
    expect(messageOf(run, records)).toBe(`this run is kept already: ${folder}`);
    expect(messageOf(folder, records)).toBe(`this run is kept already: ${folder}`);
    expect(readdirSync(records)).toHaveLength(1);
  });

  test("two cells that differ only in the folder of a path", () => {
    const of = askedRecord();
    const rounds = of.cells[0]!.rounds.map(({ measurement }) => measurement);
    of.cells = ["/data/a/input.bin", "/data/b/input.bin"].map((input) =>
      cell("students", "worker-clone", { input }, rounds),
    );
    const records = fresh();
    expect(messageOf(scratch.run(of), records)).toMatch(
      /without the paths in it.*it is the same cell as \/cells\/0: measure again with other names/,
    );
    expect(readdirSync(records)).toEqual([]);
  });

  test("a cell that is named after this machine", () => {
    vi.spyOn(os, "hostname").mockReturnValue("alices-laptop.example");
    const of = askedRecord();
    of.cells[3]!.params = { input: "from alices-laptop" };
    expect(messageOf(scratch.run(of))).toMatch(/at \/cells\/3\/params\/input: it contains the name of this machine/);
  });

  test("a packed record that is damaged, or unpacks to more than the limit", () => {
    const run = scratch.run(askedRecord());
    rmSync(path.join(run, "record.json"));
    const file = path.join(run, "record.json.gz");
    writeFileSync(file, packedText(" ".repeat(1001)));
    expect(readText(file, 1001)).toHaveLength(1001);
    expect(() => readText(file, 1000)).toThrow(RangeError);
    writeFileSync(path.join(run, "record.json.gz"), "no gzip");
    expect(messageOf(run)).toMatch(/it cannot be read/);
  });
});

describe("what is kept", () => {
  test("names no path, user or machine, in any text of the run", () => {
    vi.spyOn(os, "hostname").mockReturnValue("Alices-Laptop.example");
    vi.spyOn(os, "userInfo").mockReturnValue({ username: "alice.b" } as os.UserInfo<string>);
    vi.spyOn(os, "homedir").mockReturnValue("/srv/people/alice b");
    const of = askedRecord({ more: { command: "clearway bench /srv/people/alice b/work/mine.bench.ts --time 5" } });
    of.build.nodeOptions = "--require /opt/secret/hook.js --max-old-space-size=4096";
    of.machine.os = "Linux 6.1.0-alices-laptop";
    of.cells[0]!.rounds[0]!.measurement.notes = ["Alices-Laptop had 3 timers", "alice.b: ~/x"];
    of.cells[3]!.failure =
      "Error: boom\n    at run (file:///srv/people/alice%20b/work/mine.ts:3:9)\n    at C:\\Users\\Bob\\app\\main.js:7";
    of.cells[3]!.settings = "reads '/mnt/my data/in.bin' and -I/home/carol/include";
    const { folder, record: kept } = keep(scratch.run(of), fresh());
    const text = readFileSync(path.join(folder, "results.json"), "utf8") + JSON.stringify(kept);
    expect(text.match(/alice|bob|carol|\/srv|\/opt|\/mnt|laptop|secret/gi)).toBeNull();
    expect(kept.command).toBe("clearway bench .../work/mine.bench.ts --time 5");
    expect(kept.build.nodeOptions).toBe("--require .../hook.js --max-old-space-size=4096");
    expect(kept.machine.os).toBe("Linux 6.1.0-(machine)");
    expect(kept.cells[0]!.rounds[0]!.measurement.notes).toEqual(["(machine) had 3 timers", "(user): ~/x"]);
    expect(kept.cells[3]!.failure).toBe("Error: boom\n    at run (.../work/mine.ts:3:9)\n    at .../main.js:7");
  });

  test("has the machine's facts", () => {
    const own = askedRecord();
    const { record: kept } = keep(scratch.run(own), fresh());
    expect(kept.machine).toEqual(own.machine);
    expect(kept.build).toEqual(own.build);
  });
});

describe("the name of a record", () => {
  test("has letters, digits and hyphens only", () => {
    const name = (cpu: string, cores = 4) => machineSlug({ cpu, cores });
    expect(name("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 2)).toBe("intel-xeon-cpu-e5-2680-v4-2-cores");
    expect(name("AMD Ryzen 7 5800X 8-Core Processor", 16)).toBe("amd-ryzen-7-5800x-8-core-processor-16-cores");
    expect(name("../../Müller/:*?")).toBe("m-ller-4-cores");
    expect(name("")).toBe("unknown-cpu-4-cores");
    expect(name("x".repeat(500)).length).toBeLessThan(60);
    expect(recordName(askedRecord())).toBe("2026-01-02-a-cpu-8-cores");
  });

  test("belongs to one machine, also after an update of its kernel", () => {
    const { machine } = askedRecord();
    expect(machineKey({ ...machine, os: "Linux 7.0", loadBefore: 3 })).toBe(machineKey(machine));
    for (const other of [
      { cores: 4 },
      { cpu: "B CPU" },
      { os: "Darwin 24" },
      { memoryGb: 32 },
      { virtual: "virtual machine" },
    ])
      expect(machineKey({ ...machine, ...other })).not.toBe(machineKey(machine));
  });
});

describe("clearway keep", () => {
  function command(...args: string[]): { out: string; error: string | undefined } {
    const out: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => out.push(String(text)) > 0);
    const program = new Command().exitOverride();
    addKeep(program);
    try {
      program.parse(["keep", ...args], { from: "user" });
      return { out: out.join(""), error: undefined };
    } catch (error) {
      return { out: out.join(""), error: `${(error as Error).constructor.name}: ${(error as Error).message}` };
    } finally {
      vi.restoreAllMocks();
      process.exitCode = 0;
    }
  }

  test("prints where the run is kept, and how to see the trend", () => {
    const records = fresh();
    const run = scratch.run(askedRecord({ more: { budgetEnded: true, done: 3 } }));
    const { out, error } = command(run, "--records", records);
    expect(error).toBeUndefined();
    expect(out.replace(/\d+ KB/, "N KB")).toBe(
      [
        `${records}/2026-01-02-a-cpu-8-cores written: N KB`,
        "- The time of this run ended before all rounds were done. Its trend has wider intervals.",
        `Next: clearway trend --records ${records} shows how its ratios changed.\n`,
      ].join("\n"),
    );
    expect(command(run, "--records", records).error).toMatch(/^UsageError: this run is kept already/);
  });

  test("says what to do if the folder of records is a file", () => {
    const file = scratch.folder("a-file");
    writeFileSync(file, "");
    expect(command(scratch.run(askedRecord()), "--records", path.join(file, "inside")).error).toMatch(
      /^FailedError: cannot write .*ENOTDIR.* To go on: choose another folder with --records/,
    );
  });
});
