// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs the crates for authors of plugins as `cargo publish` does. Cargo builds each crate from its package.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toolchains } from "../../scripts/native.mjs";
import { crates, part, version } from "../../scripts/release/crates.mjs";
import { runProgram } from "../packaging/clean-folder.js";

const allowed =
  /^(Cargo\.(toml|lock)|Cargo\.toml\.orig|\.cargo_vcs_info\.json|README\.md|LICENSE(-MIT|-APACHE)?|src\/[\w/]+\.rs)$/;

describe.skipIf(!toolchains.rust)("the packed crates", () => {
  let folder: string;
  let packed: string[];
  const release = String(version());
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "clearway-crates-"));
    packed = await part.build(folder, release);
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(crates)(
    "%s has its sources, a README, the licences and a complete manifest, and nothing else",
    async (name) => {
      const archive = packed[crates.indexOf(name)] ?? "";
      const inside = (await runProgram(folder, "tar", "-tzf", archive)).trim().split("\n");
      const paths = inside.map((path) => path.replace(`${name}-${release}/`, ""));
      expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
      for (const path of ["src/lib.rs", "README.md", "LICENSE-MIT", "LICENSE-APACHE"]) expect(paths).toContain(path);
      const manifest = await runProgram(folder, "tar", "-xzOf", archive, `${name}-${release}/Cargo.toml`);
      for (const field of ["description", "license", "repository", "readme", "rust-version", "keywords"])
        expect(manifest, field).toMatch(new RegExp(`^${field} = `, "m"));
      expect(manifest).not.toMatch(/^path = "\.\./m);
    },
  );

  test("another version is refused before anything is packed", async () => {
    const other = join(folder, "other");
    await expect(part.build(other, "99.0.0")).rejects.toThrow(
      `native/Cargo.toml must have the version of the release: version=${release}, release=99.0.0`,
    );
    expect(existsSync(other)).toBe(false);
  });
});
