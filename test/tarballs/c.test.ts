// SPDX-License-Identifier: MIT OR Apache-2.0
// Unpacks the archive for C in an empty folder, installs it below a prefix, and builds programs with what pkg-config says.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { part } from "../../scripts/release/c.mjs";
import { runProgram } from "../packaging/clean-folder.js";

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const version = "12.3.4";

describe.skipIf(!has("cc") || !has("make"))("the archive for C", () => {
  let folder: string;
  let unpacked: string;
  const prefix = () => join(folder, "prefix");
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "clearway-c-"));
    const [archive] = await part.build(folder, version);
    await runProgram(folder, "tar", "-xzf", archive ?? "");
    unpacked = join(folder, `clearway-c-${version}`);
    await runProgram(unpacked, "make", "-s", "install", `PREFIX=${prefix()}`);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("installs three headers, the library and two files for pkg-config", async () => {
    expect((await readdir(join(prefix(), "include"))).sort()).toEqual([
      "clearway.h",
      "clearway_codec.h",
      "clearway_host.h",
    ]);
    expect((await readdir(join(prefix(), "lib"))).sort()).toEqual(["libclearway_codec.a", "pkgconfig"]);
    expect((await readdir(join(prefix(), "lib/pkgconfig"))).sort()).toEqual(["clearway-codec.pc", "clearway.pc"]);
    for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) expect(existsSync(join(unpacked, licence))).toBe(true);
  });

  test("has the same bytes when it is made again", async () => {
    const again = join(folder, "again");
    const [second] = await part.build(again, version);
    const sums = await runProgram(folder, "cksum", join(folder, `clearway-c-${version}.tar.gz`), second ?? "");
    const [one, two] = sums.split("\n").map((line) => line.split(" ").slice(0, 2).join(" "));
    expect(two).toBe(one);
  });

  test.skipIf(!has("pkg-config"))("builds a program and a plugin with the flags of pkg-config", async () => {
    const build = (source: string, name: string, options: string) =>
      runProgram(
        unpacked,
        "env",
        `PKG_CONFIG_PATH=${join(prefix(), "lib/pkgconfig")}`,
        ...["sh", "-c", `cc -std=c11 -Wall -Werror ${source} $(pkg-config ${options}) -o ${name}`],
      );
    expect(
      await runProgram(
        unpacked,
        "env",
        `PKG_CONFIG_PATH=${join(prefix(), "lib/pkgconfig")}`,
        ...["pkg-config", "--modversion", "clearway-codec"],
      ),
    ).toBe(`${version}\n`);
    await build("example/width.c", "width", "--cflags --libs clearway-codec");
    expect(await runProgram(unpacked, "./width")).toBe("14 bytes, width 320\n");
    await build("-shared -fPIC example/shout.c", "libshout.so", "--cflags clearway");
    expect(existsSync(join(unpacked, "libshout.so"))).toBe(true);
  });

  test("takes every file away again when it is uninstalled", async () => {
    const other = join(folder, "other");
    await runProgram(unpacked, "make", "-s", "install", `PREFIX=${other}`);
    await runProgram(unpacked, "make", "-s", "uninstall", `PREFIX=${other}`);
    const left = await readdir(other, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile())).toEqual([]);
  });
});
