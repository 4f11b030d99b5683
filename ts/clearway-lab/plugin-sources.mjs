// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies into the built package what `clearway init plugin` writes beside a template: the header for plugins in C, and the sources of the
// crate clearway-plugin for plugins in Rust. No registry has that crate yet.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The crate for authors, and the crates that it depends on. */
const crates = ["codec", "plugin", "plugin-macros", "sys"];

/** Returns a manifest without the sections that only tests need. */
const withoutTests = (manifest) => manifest.replace(/^\[+(dev-dependencies|test)\]+\n((?!\[).*\n)*/gm, "");

/** Returns the workspace's manifest with only the copied crates. */
function workspaceOf(manifest) {
  const members = crates.map((name) => `"crates/${name}"`).join(", ");
  return manifest
    .replace(/^members = \[[^\]]*\]/m, `members = [${members}]`)
    .replace(/^(#.*\n)*default-members = \[[^\]]*\]\n/m, "")
    .replace(/^clearway-core = .*\n/m, "")
    .replace(/^(#.*\n)*\[profile\.[^[]*/gm, "");
}

/** Copies from the repository's folder `native` to the folder `out`. Does nothing in an installed package, which has no such folder. */
export function copyPluginSources(native, out) {
  if (!existsSync(path.join(native, "Cargo.toml"))) return;
  const [header, rust] = [path.join(out, "c/include"), path.join(out, "rust/clearway")];
  mkdirSync(header, { recursive: true });
  cpSync(path.join(native, "include/clearway.h"), path.join(header, "clearway.h"));
  for (const name of crates) {
    const [from, to] = [path.join(native, "crates", name), path.join(rust, "crates", name)];
    cpSync(path.join(from, "src"), path.join(to, "src"), { recursive: true });
    writeFileSync(path.join(to, "Cargo.toml"), withoutTests(readFileSync(path.join(from, "Cargo.toml"), "utf8")));
    if (existsSync(path.join(from, "README.md"))) cpSync(path.join(from, "README.md"), path.join(to, "README.md"));
  }
  writeFileSync(path.join(rust, "Cargo.toml"), workspaceOf(readFileSync(path.join(native, "Cargo.toml"), "utf8")));
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(path.join(native, "..", name), path.join(rust, name));
}
