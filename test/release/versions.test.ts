// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { current, disagreements, found, places, setVersion } from "../../scripts/release/version.mjs";

const files: Record<string, string> = {
  "ts/clearway/package.json": '{\n  "name": "clearway",\n  "version": "0.1.0",\n  "license": "MIT"\n}\n',
  "ts/clearway-lab/package.json":
    '{\n  "name": "clearway-lab",\n  "version": "0.1.0",\n  "bin": {\n    "clearway": "./dist/cli.js"\n  },\n' +
    '  "dependencies": {\n    "clearway": "0.1.0",\n    "comlink": "0.1.0"\n  }\n}\n',
  "package-lock.json":
    '{\n  "packages": {\n    "ts/clearway-lab": {\n      "version": "0.1.0",\n      "dependencies": {\n        "clearway": "0.1.0",\n' +
    '        "comlink": "0.1.0"\n      }\n    },\n    "node_modules/comlink": {\n      "version": "0.1.0"\n    }\n  }\n}\n',
  "native/Cargo.toml":
    '[workspace.package]\nversion = "0.1.0"\nrust-version = "1.85"\n\n[workspace.dependencies]\n' +
    'clearway-sys = { path = "crates/sys", version = "0.1.0" }\nserde = { version = "0.1.0" }\n',
  "native/Cargo.lock":
    '[[package]]\nname = "clearway-sys"\nversion = "0.1.0"\n\n[[package]]\nname = "clearway-of-others"\nversion = "0.1.0"\n' +
    'source = "registry+x"\n\n[[package]]\nname = "serde"\nversion = "0.1.0"\n',
  "template/Cargo.toml":
    '[package]\nname = "my-plugin"\nversion = "0.1.0"\n\n# Once the crate is published, write: version = "0.1"\n',
  "jvm/pom.xml":
    "<parent>\n  <artifactId>clearway-jvm</artifactId>\n  <version>0.1.0</version>\n</parent>\n" +
    "<revision>0.1.0</revision>\n<artifactId>kotlin</artifactId>\n<version>0.1.0</version>\n",
  "docs/guide.md":
    "Version 0.1.0 is not published: `clearway-0.1.0.tgz`, `clearway-build-0.1.0.tgz`, `io.github.OWNER:clearway-channel:0.1.0`.\n" +
    "Version 0.1.0 of another library.\n",
  "CHANGELOG.md": "clearway-0.1.0.tgz\n",
  "lab/records/a/README.md": "clearway-0.1.0.tgz\n",
};

let root: string;
const read = (path: string): string => readFileSync(join(root, path), "utf8");

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "clearway-versions-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
});
afterEach(() => rmSync(root, { recursive: true }));

describe("the version of a release", () => {
  test("is set in every ecosystem, and only where the version is Clearway's own", () => {
    const changed = setVersion("0.2.0", root);
    expect(changed).toEqual(
      Object.keys(files)
        .filter((path) => !/CHANGELOG|records/.test(path))
        .sort(),
    );
    expect(read("ts/clearway-lab/package.json")).toBe(
      (files["ts/clearway-lab/package.json"] as string)
        .replace('"version": "0.1.0"', '"version": "0.2.0"')
        .replace('"clearway": "0.1.0"', '"clearway": "0.2.0"'),
    );
    expect(read("package-lock.json").match(/0\.1\.0/g)).toHaveLength(2);
    expect(read("native/Cargo.toml")).toContain('serde = { version = "0.1.0" }');
    expect(read("native/Cargo.toml").match(/0\.2\.0/g)).toHaveLength(2);
    expect(read("native/Cargo.lock").match(/0\.2\.0/g)).toHaveLength(1);
    expect(read("template/Cargo.toml")).toContain(
      'version = "0.1.0"\n\n# Once the crate is published, write: version = "0.2"',
    );
    expect(read("jvm/pom.xml").match(/0\.2\.0/g)).toHaveLength(2);
    expect(read("docs/guide.md").match(/0\.2\.0/g)).toHaveLength(4);
    expect(read("CHANGELOG.md")).toContain("0.1.0");
    expect([disagreements(root), current(root)]).toEqual([[], "0.2.0"]);
  });

  test("may be a pre-release, and comes back when it is set again", () => {
    setVersion("1.0.0-rc.1", root);
    expect(disagreements(root)).toEqual([]);
    expect(read("docs/guide.md")).toContain("`clearway-build-1.0.0-rc.1.tgz`");
    setVersion("0.1.0", root);
    for (const [path, text] of Object.entries(files)) expect(read(path)).toBe(text);
  });

  test("is refused where one place differs, with the file and the line", () => {
    writeFileSync(
      join(root, "jvm/pom.xml"),
      (files["jvm/pom.xml"] as string).replace("<revision>0.1.0", "<revision>0.1.1"),
    );
    expect(disagreements(root)).toEqual([
      "jvm/pom.xml:5: has the version 0.1.1, and the release has 0.1.0: node scripts/release/version.mjs 0.1.0",
    ]);
  });

  test.each(["", "0.2", "v0.2.0", "0.2.0 ", "0.2.0\n"])("is refused when it is the text %j", (text) => {
    expect(() => setVersion(text, root)).toThrow(
      `version must be three numbers, such as 0.2.0: version=${JSON.stringify(text)}`,
    );
    for (const [path, unchanged] of Object.entries(files)) expect(read(path)).toBe(unchanged);
  });
});

describe("this repository", () => {
  test("has one version, and every kind of place names it", () => {
    expect(disagreements()).toEqual([]);
    expect([...new Set(found().map(({ what }) => what))]).toEqual(places.map(({ what }) => what));
  });

  test("has a command that checks the versions and refuses what is no version", () => {
    const script = fileURLToPath(new URL("../../scripts/release/version.mjs", import.meta.url));
    const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining(`the version ${current()}`) });
    expect(run("0.2")).toMatchObject({ status: 2, stderr: expect.stringContaining('version="0.2"') });
    expect(run("0.2.0", "0.3.0")).toMatchObject({ status: 2, stderr: expect.stringContaining("also given: 0.3.0") });
  });
});
