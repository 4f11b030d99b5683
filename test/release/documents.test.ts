// SPDX-License-Identifier: MIT OR Apache-2.0
// The documents of a release: the changes, the SBOM, and the licences in the prebuilt addons.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toolchains } from "../../scripts/native.mjs";
import { crates, manifest, notices, targets } from "../../scripts/release/addon.mjs";
import { notes } from "../../scripts/release/checks.mjs";
import { sbom } from "../../scripts/release/sbom.mjs";
import { current } from "../../scripts/release/version.mjs";
import { published } from "../../scripts/workspaces.mjs";
import { lockOf } from "../../ts/clearway-native/addon-sources.mjs";
import { root } from "../packaging/clean-folder.js";

describe("the changes of a release", () => {
  let folder: string;
  const write = (text: string): void => writeFileSync(join(folder, "CHANGELOG.md"), text);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "clearway-changes-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("are the unreleased section of the change log, and no earlier one", () => {
    write("# Changes\n\n## Unreleased\n\n### Added\n\n- One.\n\n## 1.0.0\n\n- Old.\n");
    expect(notes("1.1.0", folder)).toBe("# Changes in 1.1.0\n\n### Added\n\n- One.\n");
    write("# Changes\n\n## Unreleased\n\n- Last.\n");
    expect(notes("1.1.0", folder)).toBe("# Changes in 1.1.0\n\n- Last.\n");
  });

  test("must exist", () => {
    for (const text of ["# Changes\n", "# Changes\n\n## Unreleased\n\n## 1.0.0\n\n- Old.\n"]) {
      write(text);
      expect(() => notes("1.1.0", folder)).toThrow('CHANGELOG.md has no changes under "## Unreleased"');
    }
  });
});

describe("the SBOM", () => {
  const version = current();
  const names = (published() as { name: string }[]).map(({ name }) => name);
  const addon = [
    { name: "clearway-node", version, license: "MIT OR Apache-2.0", needs: ["napi-sys@3.4.1"] },
    { name: "napi-sys", version: "3.4.1", license: "MIT/Apache-2.0", checksum: "00ff", needs: [] },
  ];
  const make = () => sbom({ at: root, version, names, crates: addon, time: "2026-01-02T03:04:05Z" });

  test("has every public package with its dependencies, and the addon's crates, but no tools of development", () => {
    const bom = make();
    expect(bom).toMatchObject({
      bomFormat: "CycloneDX",
      metadata: { component: { name: "clearway-release", version } },
    });
    const components = new Map<string, { purl: string; licenses?: unknown; hashes?: unknown }>(
      bom.components.map((each: { "bom-ref": string }) => [each["bom-ref"], each]),
    );
    for (const name of names) expect(components.get(`${name}@${version}`)?.purl).toBe(`pkg:npm/${name}@${version}`);
    expect([...components.keys()].some((ref) => ref.startsWith("commander@"))).toBe(true);
    expect([...components.keys()].some((ref) => /^(vitest|typescript|@biomejs)/.test(ref))).toBe(false);
    expect(components.get("cargo:napi-sys@3.4.1")).toMatchObject({
      purl: "pkg:cargo/napi-sys@3.4.1",
      licenses: [{ expression: "MIT OR Apache-2.0" }],
      hashes: [{ alg: "SHA-256", content: "00ff" }],
    });
    const needs = new Map<string, string[]>(
      bom.dependencies.map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [ref, dependsOn]),
    );
    expect(needs.get(`clearway-release@${version}`)).toEqual(names.map((name) => `${name}@${version}`));
    expect(needs.get(`clearway-native@${version}`)).toContain(`cargo:clearway-node@${version}`);
    for (const each of [...needs.values()].flat()) expect(components.has(each), each).toBe(true);
  });

  test("is the same for the same packages, and names no registry", () => {
    expect(make()).toEqual(make());
    expect(JSON.stringify(make())).not.toContain('"distribution"');
  });
});

describe("the addon's sources", () => {
  test("have a lock file with only the packages that they need", () => {
    const block = (name: string, version: string, ...needs: string[]) =>
      [`[[package]]`, `name = "${name}"`, `version = "${version}"`, ...needs, ""].join("\n");
    const lock = [
      "version = 4\n",
      block("a", "1.0.0", "dependencies = [", ' "b 2.0.0",', ' "c",', "]"),
      block("b", "1.0.0"),
      block("b", "2.0.0"),
      block("c", "1.0.0"),
      block("d", "1.0.0"),
    ].join("\n");
    const packages = [...lockOf(lock, ["a"]).matchAll(/name = "(.*)"\nversion = "(.*)"/g)].map(
      ([, name, version]) => `${name} ${version}`,
    );
    expect(packages).toEqual(["a 1.0.0", "b 2.0.0", "c 1.0.0"]);
    expect(lockOf(lock, ["a", "b", "d"])).toBe(lock);
  });

  // Cargo refuses the sources here if a file or a version in the lock file is missing.
  test.skipIf(!toolchains.rust || !existsSync(manifest))("are complete, and their licences have their texts", () => {
    const found = crates(targets[0]) as { name: string; needs: string[] }[];
    const byName = new Map(found.map((each) => [each.name, each]));
    expect(byName.get("clearway-node")?.needs).toContain(`clearway-core@${current()}`);
    const text = notices(found);
    for (const name of ["libloading", "napi-sys"]) {
      expect(byName.has(name)).toBe(true);
      expect(text).toMatch(new RegExp(`^=== ${name} \\S+ \\(.+\\)$`, "m"));
    }
    expect(text).not.toContain("=== clearway-");
    expect(text).toContain("Permission is hereby granted");
  });
});
