// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a git repository with a tag of the archive for Swift, and builds a program that depends on that tag. The Swift that set-up installs has
// no git, so with it the program depends on the folder.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linked, manifestOf, part } from "../../scripts/release/swift.mjs";
import { toolchain } from "../../scripts/swift.mjs";
import { runProgram } from "../packaging/clean-folder.js";

const version = "12.3.4";
const tools = toolchain();
const hasGit = tools?.own === undefined;

const manifest = (dependency: string) => `// swift-tools-version: 6.0
import PackageDescription
let package = Package(
  name: "client",
  platforms: [.macOS(.v13)],
  dependencies: [${dependency}],
  targets: [
    .executableTarget(name: "client", dependencies: [.product(name: "ClearwayChannel", package: "clearway")], path: ".")
  ]
)
`;
const program = `import ClearwayChannel
let codec = StandardMessageCodec()
let bytes = try codec.encode(["width": 320])
let value = try bytes.withUnsafeBytes { try codec.decode($0) }
print("width", value["width"]?.intValue ?? 0)
`;

describe("the archive for Swift", () => {
  let folder: string;
  let repository: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "clearway-swift-"));
    const [archive] = await part.build(folder, version);
    repository = join(folder, "clearway");
    await mkdir(repository);
    await runProgram(repository, "tar", "-xzf", archive ?? "", "--strip-components=1");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("has the libraries and no program, test or link, and its pages lead to files or to the repository", async () => {
    const sources = (await readdir(join(repository, "Sources"))).sort();
    const libraries = ["CClearway", "ClearwayChannel", "ClearwayMeter", "ClearwayPlugin", "ClearwayTasks"];
    expect(sources).toEqual([...libraries, "ClearwayThreads"]);
    expect((await readdir(repository)).filter((name) => /Tests|Examples/.test(name))).toEqual([]);
    const entries = await readdir(repository, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isSymbolicLink())).toEqual([]);
    for (const page of ["README.md", "docs/plugins.md"]) {
      const text = await readFile(join(repository, page), "utf8");
      for (const [, to] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        expect(existsSync(join(repository, dirname(page), to ?? "")), `${page}: ${to}`).toBe(true);
      expect(text).toMatch(`/clearway/blob/v${version}/spec/`);
    }
  });

  test("a link keeps its place in the page, and a manifest with a program outside of the region is refused", () => {
    const has = (path: string) => path === "swift/docs/tasks.md";
    expect(linked("[a](docs/tasks.md#b) [c](#d)", "swift/README.md", has, "1.0.0")).toBe(
      "[a](docs/tasks.md#b) [c](#d)",
    );
    expect(linked("[a](../../spec/x.md#b)", "swift/docs/tasks.md", has, "1.0.0")).toMatch(
      /blob\/v1\.0\.0\/spec\/x\.md#b\)/,
    );
    expect(() => manifestOf('  .executableTarget(name: "a"),\n')).toThrow("in its region `clone`");
  });

  test.skipIf(tools === undefined)(
    `a program depends on its ${hasGit ? "tag" : "folder"} and runs`,
    async () => {
      if (hasGit) {
        const git = (...args: string[]) =>
          runProgram(repository, "git", "-c", "user.name=test", "-c", "user.email=test@localhost", ...args);
        await git("init", "-q");
        await git("add", "--all");
        await git("commit", "-q", "-m", version);
        await git("tag", version);
      }
      const client = join(folder, "client");
      await mkdir(client);
      const dependency = hasGit
        ? `.package(url: "file://${repository}", exact: "${version}")`
        : `.package(path: "${repository}")`;
      await writeFile(join(client, "Package.swift"), manifest(dependency));
      await writeFile(join(client, "main.swift"), program);
      const output = await runProgram(client, tools?.swift ?? "", "run", "--disable-sandbox", "--quiet", "client");
      expect(output.trim().split("\n").at(-1)).toBe("width 320");
    },
    900_000,
  );
});
