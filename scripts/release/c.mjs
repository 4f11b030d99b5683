// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of a release for C: an archive with the headers, the codec, a Makefile that installs them, and files for pkg-config.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../sources.mjs";
import { archiveNeeds, copyLicences, copyTracked, makeArchive } from "./archive.mjs";

function fill(folder, version) {
  copyTracked("native/c/package", folder);
  copyTracked("native/include", join(folder, "include"));
  copyTracked("native/c/include", join(folder, "include"));
  copyTracked("native/c/src", join(folder, "src"));
  copyFileSync(join(root, "examples/jvm-plugin/shout.c"), join(folder, "example/shout.c"));
  copyLicences(folder);
  // Only the first @VERSION@ is the Makefile's own. The other one is in the command that writes the files for pkg-config.
  const makefile = join(folder, "Makefile");
  writeFileSync(makefile, readFileSync(makefile, "utf8").replace("@VERSION@", version));
}

export const part = {
  name: "c",
  needs: archiveNeeds,
  async build(outDir, version) {
    return [makeArchive(outDir, `clearway-c-${version}`, (folder) => fill(folder, version))];
  },
};
