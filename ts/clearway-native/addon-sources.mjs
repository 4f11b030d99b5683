// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies the sources of the addon into the built package. `clearway-native build` compiles them on systems without a prebuilt addon.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The addon's crate, and the crates of this repository that it depends on. */
const crates = ["core", "node", "sys"];

/** Returns the workspace's manifest with only the copied crates. */
const workspaceOf = (manifest) =>
  manifest
    .replace(/^members = \[[^\]]*\]/m, 'members = ["crates/*"]')
    .replace(/^(#.*\n)*default-members = \[[^\]]*\]\n/m, "")
    .replace(/^clearway-(?!core|sys)[\w-]+ = \{ path.*\n/gm, "");

/** Returns a lock file with only the packages that `names` need, so that Cargo accepts it for the copied crates with `--locked`. */
export function lockOf(lock, names) {
  const [head, ...blocks] = lock.split(/\n(?=\[\[package\]\]\n)/);
  const packages = blocks.map((text) => ({
    text,
    name: /^name = "(.+)"$/m.exec(text)?.[1],
    version: /^version = "(.+)"$/m.exec(text)?.[1],
    // Cargo writes a version only if the lock file has several versions of the crate.
    needs: [...text.matchAll(/^ "([^ "]+)(?: ([^ "]+))?/gm)],
  }));
  const wanted = new Set();
  const want = (name, version) => {
    const found = packages.filter((each) => each.name === name && (version === undefined || each.version === version));
    for (const each of found) {
      if (wanted.has(each)) continue;
      wanted.add(each);
      for (const [, needed, exactly] of each.needs) want(needed, exactly);
    }
  };
  for (const name of names) want(name);
  return [head, ...packages.filter((each) => wanted.has(each)).map(({ text }) => text)].join("\n").trimEnd() + "\n";
}

/** Copies from the repository's folder `native` to the folder `out`. Does nothing in an installed package, which has no such folder. */
export function copyAddonSources(native, out) {
  if (!existsSync(path.join(native, "Cargo.toml"))) return;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const name of crates) {
    const [from, to] = [path.join(native, "crates", name), path.join(out, "crates", name)];
    for (const part of ["Cargo.toml", "build.rs", "src"])
      if (existsSync(path.join(from, part))) cpSync(path.join(from, part), path.join(to, part), { recursive: true });
  }
  const read = (name) => readFileSync(path.join(native, name), "utf8");
  writeFileSync(path.join(out, "Cargo.toml"), workspaceOf(read("Cargo.toml")));
  writeFileSync(
    path.join(out, "Cargo.lock"),
    lockOf(
      read("Cargo.lock"),
      crates.map((name) => `clearway-${name}`),
    ),
  );
}
