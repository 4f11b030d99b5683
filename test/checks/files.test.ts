// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that each check accepts good files and refuses bad ones.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { differences } from "../../scripts/check/api.mjs";
import { sizes } from "../../scripts/check/file-sizes.mjs";
import { licenceProblems } from "../../scripts/check/licences.mjs";
import { machineProblems } from "../../scripts/check/machine-paths.mjs";
import { addressProblems, lockProblems, manifestProblems } from "../../scripts/check/manifests.mjs";
import { walked } from "../../scripts/sources.mjs";

const file = (lines: number) => [{ path: "a.ts", text: "line\n".repeat(lines) }];

describe("file sizes", () => {
  test("allow 400 lines and refuse 401", () => {
    expect(sizes(file(400), {})).toEqual([]);
    expect(sizes(file(401), {})).toEqual([expect.stringContaining("a.ts: 401 lines")]);
  });

  test("allow an exempt file to be longer, and refuse an exemption without a file", () => {
    expect(sizes(file(500), { "a.ts": "generated" })).toEqual([]);
    expect(sizes(file(1), { "gone.ts": "generated" })).toHaveLength(1);
  });
});

describe("the files of a copy without git", () => {
  test("are all but those that builds and installations write", () => {
    const folder = mkdtempSync(join(tmpdir(), "clearway-zip-"));
    try {
      const kept = [".npmrc", "native/c/codec.c", "native/crates/build.rs", "ts/clearway/src/index.ts"];
      const written = [
        "node_modules/a/index.js",
        "ts/clearway/dist/index.js",
        "native/c/build/codec.o",
        "out/a.json",
        "clearway.tgz",
        "ts/clearway/LICENSE-MIT",
      ];
      for (const path of [...kept, ...written]) {
        mkdirSync(join(folder, path, ".."), { recursive: true });
        writeFileSync(join(folder, path), "");
      }
      expect(walked(folder).sort()).toEqual(kept);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("licence lines", () => {
  const line = "// SPDX-License-Identifier: MIT OR Apache-2.0";
  test("may follow a #! line, and must not be missing", () => {
    const good = { path: "a.ts", text: `#!/usr/bin/env node\n${line}\n` };
    const bad = { path: "b.ts", text: "export {};\n" };
    expect(licenceProblems([good, bad])).toEqual([expect.stringMatching(/^b\.ts:/)]);
  });
});

describe("paths of one machine", () => {
  test.each([
    ["a home folder", ["", "root", "x"].join("/")],
    ["a checkout", ["", "work", "main"].join("/")],
    ["somebody's home", ["", "home", "me"].join("/")],
  ])("are found: %s", (_, path) => {
    expect(machineProblems([{ path: "a.md", text: `first\nsee ${path}/y\n` }])).toEqual([
      expect.stringMatching(/^a\.md:2:/),
    ]);
  });

  test("do not include ordinary paths", () => {
    const text = "ts/clearway/src/work/photo.ts\n./work/x\n../home/y\nhttps://example.org/work\n";
    expect(machineProblems([{ path: "a.md", text }])).toEqual([]);
  });
});

describe("manifests", () => {
  const good = { name: "clearway", type: "module", license: "MIT OR Apache-2.0" };
  test("have exact versions, and the library's has no runtime dependency", () => {
    expect(manifestProblems("p", good)).toEqual([]);
    expect(manifestProblems("p", { ...good, dependencies: { comlink: "4.4.2" } })).toHaveLength(1);
    expect(manifestProblems("p", { ...good, name: "other", dependencies: { comlink: "^4.4.2" } })).toHaveLength(1);
    expect(manifestProblems("p", { ...good, license: "MIT" })).toHaveLength(1);
  });

  test("of published packages name the repository of the owner and their folder in it", () => {
    const page = "https://github.com/OWNER/clearway";
    const repository = { type: "git", url: `git+${page}.git`, directory: "ts/a" };
    const manifest = { homepage: `${page}#readme`, bugs: `${page}/issues`, repository };
    expect(addressProblems({ folder: "ts/a", manifest }, "OWNER")).toEqual([]);
    expect(addressProblems({ folder: "ts/b", manifest }, "OWNER")).toEqual([
      expect.stringMatching(/^ts\/b\/package\.json: repository should be/),
    ]);
    expect(addressProblems({ folder: "ts/a", manifest }, "me")).toHaveLength(3);
  });

  test("are locked by integrity in a lock file that names no host", () => {
    const entry = { version: "1.0.0", integrity: "sha512-x" };
    expect(lockProblems({ packages: { "": {}, "node_modules/a": entry } })).toEqual([]);
    expect(
      lockProblems({ packages: { "node_modules/a": { ...entry, resolved: "https://example.org/a.tgz" } } }),
    ).toHaveLength(1);
    expect(lockProblems({ packages: { "node_modules/a": { version: "1.0.0" } } })).toHaveLength(1);
  });
});

describe("the API snapshot", () => {
  test("names changed, added and removed files", () => {
    const folder = mkdtempSync(join(tmpdir(), "clearway-api-"));
    const write = (path: string, text: string) => {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    write("one/same.d.ts", "x");
    write("two/same.d.ts", "x");
    write("one/changed.d.ts", "x");
    write("two/changed.d.ts", "y");
    write("one/removed.d.ts", "x");
    write("two/added.d.ts", "x");
    write("two/not-a-declaration.js", "x");
    expect(differences(join(folder, "one"), join(folder, "two"))).toEqual([
      "added.d.ts",
      "changed.d.ts",
      "removed.d.ts",
    ]);
    rmSync(folder, { recursive: true });
  });
});
