// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of a release for Swift: an archive with the four libraries. Its content may also be the root of a repository, because SwiftPM
// finds a package by a tag only there.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { owner } from "../jvm-publish.mjs";
import { root } from "../sources.mjs";
import { archiveNeeds, copyLicences, copyTracked, makeArchive } from "./archive.mjs";

/** The folders of sources that only a clone builds. */
const onlyInTheClone = ["ClearwayConformance", "ClearwayLab"];

/** Returns the manifest without the targets that only a clone builds. */
export function manifestOf(text) {
  const libraries = text.replace(/^ *\/\/ #region clone\n[\s\S]*?\/\/ #endregion clone\n/gm, "");
  if (libraries === text || /executableTarget|testTarget/.test(libraries))
    throw new Error("swift/Package.swift must have every target that is no library in its region `clone`");
  return libraries;
}

/**
 * Returns the text of the page `page`, a path in the repository. Links to files that `has` does not name lead to the repository's page of the
 * release.
 */
export function linked(text, page, has, version) {
  return text.replace(/\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (link, to, anchor = "") => {
    const path = posix.join(posix.dirname(page), to);
    return has(path) ? link : `](https://github.com/${owner()}/clearway/blob/v${version}/${path}${anchor})`;
  });
}

function fill(folder, version) {
  const isLibrary = (path) => !onlyInTheClone.some((name) => path.includes(`/${name}/`));
  copyTracked("swift/Sources", join(folder, "Sources"), isLibrary);
  copyTracked("swift/docs", join(folder, "docs"));
  copyFileSync(join(root, "swift/README.md"), join(folder, "README.md"));
  const has = (path) => path.startsWith("swift/") && existsSync(join(folder, path.slice("swift/".length)));
  for (const name of ["README.md", ...readdirSync(join(folder, "docs")).map((each) => `docs/${each}`)]) {
    const page = join(folder, name);
    writeFileSync(page, linked(readFileSync(page, "utf8"), `swift/${name}`, has, version));
  }
  writeFileSync(join(folder, "Package.swift"), manifestOf(readFileSync(join(root, "swift/Package.swift"), "utf8")));
  copyLicences(folder);
}

export const part = {
  name: "swift",
  needs: archiveNeeds,
  async build(outDir, version) {
    return [makeArchive(outDir, `clearway-swift-${version}`, (folder) => fill(folder, version))];
  },
};
