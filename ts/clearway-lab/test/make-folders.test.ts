// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeFolders } from "../src/cli/out-folder.js";

const scratch = mkdtempSync(path.join(tmpdir(), "clearway-folders-"));
afterAll(() => rmSync(scratch, { recursive: true }));

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
