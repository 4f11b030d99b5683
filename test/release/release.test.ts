// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds releases of a small repository with parts of its own.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { choose, partsIn, release } from "../../scripts/release/parts.mjs";

interface Part {
  name: string;
  needs(): string | undefined;
  build(out: string, version: string): Promise<unknown>;
}

let folder: string;
let root: string;
let out: string;

function git(...args: string[]): void {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
  const { status, stderr } = spawnSync("git", [...identity, ...args], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "clearway-release-test-"));
  [root, out] = [join(folder, "repository"), join(folder, "out")];
  mkdirSync(root);
  write("ts/clearway/package.json", '{\n  "name": "clearway",\n  "version": "1.2.3"\n}\n');
  git("init", "-q");
  git("add", ".");
  git("commit", "-q", "-m", "all");
});
afterEach(() => rmSync(folder, { recursive: true }));

const part = (name: string, missing?: string): Part => ({
  name,
  needs: () => missing,
  build: async (to, version) => {
    writeFileSync(join(to, `${name}-${version}.txt`), "built");
    return [`${name}-${version}.txt`];
  },
});

const problemsOf = (options: object): Promise<unknown> =>
  release({ root, out, parts: [part("npm"), part("c")], ...options }).then(
    () => "no problem",
    (error: { problems?: string[] }) => error.problems ?? error,
  );

const filesOf = (path: string): string[] =>
  (readdirSync(path, { recursive: true, withFileTypes: true }) as { isFile(): boolean; name: string }[])
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

describe("a release", () => {
  test("has the files of every part, its documents, its facts and the checksums of all", async () => {
    const documents = async (version: string, time: string | undefined) => ({ "NOTES.md": `${version} ${time}\n` });
    await release({ root, out, parts: [part("npm"), part("c", "no compiler")], documents });
    expect(filesOf(out)).toEqual(["NOTES.md", "SHA256SUMS", "npm-1.2.3.txt", "release.json"]);
    const facts = JSON.parse(readFileSync(join(out, "release.json"), "utf8"));
    expect(facts).toMatchObject({
      version: "1.2.3",
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      isDirty: false,
      parts: ["npm"],
      leftOut: [{ name: "c", missing: "no compiler" }],
    });
    expect(readFileSync(join(out, "NOTES.md"), "utf8")).toBe(`1.2.3 ${facts.time}\n`);
    const sums = readFileSync(join(out, "SHA256SUMS"), "utf8");
    expect(sums).toMatch(
      /^[0-9a-f]{64} {2}NOTES\.md\n[0-9a-f]{64} {2}npm\/npm-1\.2\.3\.txt\n[0-9a-f]{64} {2}release\.json\n$/,
    );
    expect(spawnSync("sha256sum", ["-c", "SHA256SUMS"], { cwd: out }).status).toBe(0);
  });

  test("replaces the files of an earlier one, and leaves a folder with other files", async () => {
    const parts = [part("npm"), part("c")];
    await release({ root, out, parts });
    await release({ root, out, parts, only: ["c"] });
    expect(filesOf(out)).toEqual(["SHA256SUMS", "c-1.2.3.txt", "release.json"]);
    const own = join(folder, "own");
    mkdirSync(own);
    writeFileSync(join(own, "letter.txt"), "mine");
    expect(await problemsOf({ out: own })).toEqual([expect.stringContaining("has other files")]);
    expect(filesOf(own)).toEqual(["letter.txt"]);
  });

  test("is refused when versions differ, and builds nothing", async () => {
    write("native/Cargo.toml", '[workspace.package]\nversion = "1.2.4"\n');
    git("add", ".");
    git("commit", "-q", "-m", "another version");
    expect(await problemsOf({})).toEqual([expect.stringMatching(/^native\/Cargo\.toml:2: has the version 1\.2\.4/)]);
    expect(existsSync(out)).toBe(false);
  });

  test("is refused when files are not committed, unless that is allowed and noted", async () => {
    for (let each = 1; each <= 7; each++) write(`new-${each}.txt`, "x");
    expect(await problemsOf({})).toEqual([
      "7 files are not committed: new-1.txt, new-2.txt, new-3.txt, new-4.txt, new-5.txt and 2 more",
    ]);
    expect(existsSync(out)).toBe(false);
    expect(await problemsOf({ allowDirty: true })).toBe("no problem");
    expect(JSON.parse(readFileSync(join(out, "release.json"), "utf8")).isDirty).toBe(true);
  });

  test("is refused when the build changes files", async () => {
    const build = () => write("ts/clearway/package.json", '{\n  "name": "clearway",\n  "version": "1.2.3" \n}\n');
    expect(await problemsOf({ build })).toEqual([
      "the build changed files",
      "1 files are not committed: ts/clearway/package.json",
    ]);
  });

  test("is refused without git", async () => {
    rmSync(join(root, ".git"), { recursive: true });
    expect(await problemsOf({})).toEqual([expect.stringContaining("no git repository")]);
  });

  test("is refused when a part builds nothing, or names a file that is not there or is elsewhere", async () => {
    const builds = (files: unknown): Part => ({ ...part("npm"), build: async () => files });
    for (const files of [undefined, []])
      expect(await problemsOf({ parts: [builds(files)] })).toEqual(["npm built no files"]);
    expect(await problemsOf({ parts: [builds(["none.tgz", "../release.json", "."])] })).toEqual([
      `npm has no such file in its folder: ${join(out, "npm/none.tgz")}`,
      `npm has no such file in its folder: ${join(out, "release.json")}`,
      `npm has no such file in its folder: ${join(out, "npm")}`,
    ]);
    expect(existsSync(join(out, "SHA256SUMS"))).toBe(false);
  });
});

describe("the parts of a release", () => {
  test("are left out when something is missing, and refused when they were named", () => {
    const parts = [part("npm"), part("maven", "Maven is missing: apt-get install maven")];
    expect(choose(parts)).toMatchObject({
      chosen: [{ name: "npm" }],
      leftOut: [{ name: "maven", missing: "Maven is missing: apt-get install maven" }],
    });
    expect(() => choose(parts, ["maven"])).toThrow("maven cannot be built: Maven is missing: apt-get install maven");
    expect(() => choose(parts, ["nmp"])).toThrow("no part of a release is called nmp: npm, maven");
  });

  test("are the modules of the folder that export a part", async () => {
    const parts = await partsIn(fileURLToPath(new URL("../../scripts/release", import.meta.url)));
    const names = parts.map(({ name }) => name);
    expect(names).toContain("npm");
    expect(new Set(names).size).toBe(names.length);
  });
});

test("make release names its problems in one line each, without a stack", () => {
  const main = fileURLToPath(new URL("../../scripts/release/main.mjs", import.meta.url));
  for (const [args, message] of [
    [["--allow-dirty", "nmp", "--out", out], "no part of a release is called nmp"],
    [["--al"], "--al"],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain(message);
    expect(
      stderr
        .trimEnd()
        .split("\n")
        .every((line) => line.startsWith("release: ")),
    ).toBe(true);
  }
  expect(existsSync(out)).toBe(false);
});
