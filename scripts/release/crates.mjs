// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of a release for Rust: the crates that an author of a plugin depends on, packed as `cargo publish` uploads them. Cargo builds each
// crate from its package, with the others' packages as its dependencies.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { missing, native } from "../cargo.mjs";
import { toolchains } from "../native.mjs";
import { licences, root } from "../sources.mjs";
import { requireVersion, run } from "./archive.mjs";

/** The crates that are published, in the order of their dependencies. */
export const crates = ["sys", "codec", "plugin-macros", "plugin"].map((name) => `clearway-${name}`);

/** The version of all crates. */
export function version() {
  const manifest = readFileSync(join(native, "Cargo.toml"), "utf8");
  return /^\[workspace\.package\][^[]*^version = "(.*)"/m.exec(manifest)?.[1];
}

/** Throws an Error unless the crates depend on each other's release. A registry would refuse them, or take another release. */
function requireVersions(release) {
  requireVersion("native/Cargo.toml", version(), release);
  const manifest = readFileSync(join(native, "Cargo.toml"), "utf8");
  for (const name of crates) {
    const dependency = new RegExp(`^${name} = .*version = "(.*?)"`, "m").exec(manifest)?.[1];
    requireVersion(`native/Cargo.toml, dependency ${name},`, dependency, release);
  }
}

export const part = {
  name: "crates",
  needs: () => (toolchains.rust ? undefined : missing),
  async build(outDir, release) {
    requireVersions(release);
    // `cargo publish` packs these copies, too. git ignores them.
    for (const crate of crates) {
      const folder = join(native, "crates", crate.slice("clearway-".length));
      for (const name of licences) copyFileSync(join(root, name), join(folder, name));
    }
    const target = process.env.CARGO_TARGET_DIR ?? join(native, "target");
    // The working tree may differ from the last commit, as every other part allows, too.
    const options = ["package", "-q", "--locked", "--allow-dirty", ...crates.flatMap((name) => ["-p", name])];
    run("cargo", options, { cwd: native, env: { ...process.env, CARGO_TARGET_DIR: target } });
    mkdirSync(outDir, { recursive: true });
    return crates.map((name) => {
      const file = `${name}-${release}.crate`;
      copyFileSync(join(target, "package", file), join(outDir, file));
      return join(outDir, file);
    });
  },
};
