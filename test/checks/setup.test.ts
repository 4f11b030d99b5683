// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const script = fileURLToPath(new URL("../../scripts/setup.sh", import.meta.url));
let programs: string;

/** Runs set-up with only these programs on the PATH. */
function setUp(path: string, ...parts: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync("/bin/sh", [script, ...parts], {
    env: { PATH: path },
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
}

beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), "clearway-setup-"));
  symlinkSync("/usr/bin/dirname", join(programs, "dirname"));
});
afterAll(() => rmSync(programs, { recursive: true }));

test("set-up says what to install when Node is missing", () => {
  const { status, said } = setUp(programs, "node");
  expect(status).toBe(1);
  expect(said).toContain("Node and npm are missing");
  expect(said).toContain("20.19");
});

test("set-up names the version of a Node that is too old", () => {
  const old = '#!/bin/sh\ncase "$1" in -p) echo 18.20.4 ;; *) exit 1 ;; esac\n';
  for (const name of ["node", "npm"]) {
    writeFileSync(join(programs, name), old);
    chmodSync(join(programs, name), 0o755);
  }
  const { status, said } = setUp(programs, "node");
  expect(status).toBe(1);
  expect(said).toContain("Node 18.20.4 is too old");
});

test("set-up prints nothing when everything is installed", () => {
  expect(setUp(process.env.PATH ?? "", "node")).toEqual({ status: 0, said: "" });
});

test("set-up says where Swift comes from and goes on when Swift cannot be installed", () => {
  const { status, said } = setUp(programs, "swift");
  expect(status).toBe(0);
  expect(said).toContain("https://swift.org/install");
});

test("set-up refuses an unknown part", () => {
  const { status, said } = setUp(programs, "chromum");
  expect(status).toBe(2);
  expect(said).toContain(
    "unknown part: chromum (node, chromium, postgresql, prometheus, nats, redis, python, shells, jvm, xvfb, flutter, sqlite, rust, cross, swift, tools)",
  );
});
