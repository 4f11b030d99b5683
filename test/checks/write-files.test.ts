// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFileSync } from "node:child_process";
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
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeFiles } from "../../scripts/write-files.mjs";
import { fillDisk } from "../full-disk.mjs";

let folder: string;
const at = (name: string): string => path.join(folder, name);
const textOf = (name: string): string => readFileSync(at(name), "utf8");
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "clearway-write-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("writeFiles", () => {
  test("writes text and bytes, replaces files, and leaves nothing else", () => {
    writeFileSync(at("old"), "a longer text");
    writeFiles({ [at("old")]: "new", [at("bytes")]: new Uint8Array([65, 66]) });
    expect(readdirSync(folder).sort()).toEqual(["bytes", "old"]);
    expect([textOf("old"), textOf("bytes")]).toEqual(["new", "AB"]);
  });

  test("keeps the mode of a file that it replaces", () => {
    writeFileSync(at("private"), "");
    chmodSync(at("private"), 0o600);
    writeFiles({ [at("private")]: "x" });
    expect(statSync(at("private")).mode & 0o777).toBe(0o600);
  });

  test.each(["foreign", "nothing"])("writes no file through a link to %s, and none of the others", (target) => {
    writeFileSync(at("foreign"), "theirs");
    symlinkSync(at(target), at("report.html"));
    expect(() => writeFiles({ [at("results.json")]: "{}", [at("report.html")]: "page" })).toThrow("ELOOP");
    expect(textOf("foreign")).toBe("theirs");
    expect(readdirSync(folder).sort()).toEqual(["foreign", "report.html"]);
  });

  test("writes nothing to links that have the names of temporary files", () => {
    writeFileSync(at("foreign"), "theirs");
    for (const name of ["report.html.part", "report.html.new", "report.html.tmp", `report.html.${process.pid}`])
      symlinkSync(at("foreign"), at(name));
    writeFiles({ [at("report.html")]: "page" });
    expect([textOf("foreign"), textOf("report.html")]).toEqual(["theirs", "page"]);
  });

  test("replaces no folder", () => {
    mkdirSync(at("a-folder"));
    expect(() => writeFiles({ [at("first")]: "1", [at("a-folder")]: "2" })).toThrow("EISDIR");
    expect(readdirSync(folder)).toEqual(["a-folder"]);
  });

  test.each([0, 1, 2])("leaves all old files when the disk is full at file %i", (file) => {
    const names = ["a", "b", "c"];
    for (const name of names) writeFileSync(at(name), `old ${name}`);
    const empty = fillDisk(folder, file);
    try {
      expect(() => writeFiles(Object.fromEntries(names.map((name) => [at(name), `new ${name}`])))).toThrow("ENOSPC");
    } finally {
      empty();
    }
    expect(readdirSync(folder).sort()).toEqual(names);
    expect(names.map(textOf)).toEqual(names.map((name) => `old ${name}`));
  });

  test.runIf(existsSync("/dev/full"))("writes to a device, and to a pipe that another program gives it", () => {
    expect(() => writeFiles({ "/dev/full": "x" })).toThrow("ENOSPC");
    const program = `import { writeFiles } from ${JSON.stringify(new URL("../../scripts/write-files.mjs", import.meta.url).href)};
      writeFiles({ "/dev/stdout": "through the pipe" });`;
    expect(
      execFileSync("sh", ["-c", '"$0" --input-type=module -e "$1" | cat', process.execPath, program], {
        encoding: "utf8",
      }),
    ).toBe("through the pipe");
  });
});
