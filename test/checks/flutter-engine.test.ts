// SPDX-License-Identifier: MIT OR Apache-2.0
// The part `flutter` of set-up unpacks only the pinned wheel. These tests use no network: the wheel is a file.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect, test } from "vitest";

const script = fileURLToPath(new URL("../../scripts/flutter-engine.mjs", import.meta.url));
const pinned = fileURLToPath(new URL("../../scripts/flutter-requirements.txt", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "clearway-flutter-setup-"));
afterAll(() => rmSync(scratch, { recursive: true }));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(scratch, "case-"));
});

function install(wheel: string, requirements = pinned) {
  const args = [script, "--wheel", wheel, "--into", join(folder, "flutter"), "--pinned", requirements];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, said: stdout + stderr };
}

/** Writes a wheel with these bytes, and requirements that pin it. */
function pinnedWheel(bytes: string) {
  const wheel = join(folder, "some.whl");
  const requirements = join(folder, "requirements.txt");
  writeFileSync(wheel, bytes);
  writeFileSync(requirements, `some==1 --hash=sha256:${createHash("sha256").update(bytes).digest("hex")}\n`);
  return { wheel, requirements };
}

test("the pinned requirement has a version and one SHA-256", () => {
  const lines = readFileSync(pinned, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines).toEqual([expect.stringMatching(/^flet-desktop==\d+\.\d+\.\d+ --hash=sha256:[0-9a-f]{64}$/)]);
});

test("set-up refuses a wheel with another checksum, and unpacks nothing", () => {
  const { wheel } = pinnedWheel("another wheel");
  const { status, said } = install(wheel);
  expect(status).toBe(1);
  expect(said).toContain("the wheel is not the pinned one, and was not unpacked: sha256=");
  expect(said).toContain("pinned sha256=fdb15763");
  expect(readdirSync(folder).sort()).toEqual(["requirements.txt", "some.whl"]);
});

test("set-up keeps the installed app when the new wheel is refused", () => {
  const library = join(folder, "flutter/flet/lib");
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, "libflutter_linux_gtk.so"), "an older engine");
  const { wheel } = pinnedWheel("another wheel");
  expect(install(wheel).status).toBe(1);
  expect(existsSync(join(library, "libflutter_linux_gtk.so"))).toBe(true);
});

test("set-up refuses a wheel that does not exist, or that is no archive, and leaves nothing", () => {
  expect(install(join(folder, "none.whl"))).toEqual({
    status: 1,
    said: expect.stringContaining("there is no such wheel"),
  });
  const { wheel, requirements } = pinnedWheel("no archive");
  expect(install(wheel, requirements)).toEqual({
    status: 1,
    said: expect.stringContaining("the wheel could not be unpacked"),
  });
  expect(readdirSync(folder).sort()).toEqual(["requirements.txt", "some.whl"]);
});

test("set-up does nothing when the app is installed", () => {
  const library = join(folder, "flutter/flet/lib");
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, "libflutter_linux_gtk.so"), "an engine");
  writeFileSync(join(folder, "flutter/installed.txt"), readFileSync(pinned));
  expect(install(join(folder, "none.whl"))).toEqual({ status: 0, said: "" });
});
