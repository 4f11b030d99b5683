// SPDX-License-Identifier: MIT OR Apache-2.0
// The licence texts of the packages whose code a built file contains.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the licence texts of packages, each below its name.
 *
 * @param {readonly { name: string, version: string, license: string, folder: string }[]} packages
 */
export function licenceTexts(packages) {
  return packages
    .map(({ name, version, license, folder }) => {
      const texts = readdirSync(folder)
        .filter((each) => /^(licen[cs]e|copying|notice|unlicense)/i.test(each))
        .sort()
        .map((each) => `--- ${each}\n\n${readFileSync(join(folder, each), "utf8").trim()}\n`);
      return [`=== ${name} ${version} (${license})\n`, ...texts].join("\n");
    })
    .join("\n");
}

/**
 * Returns the npm packages whose code is in bundles, by name.
 *
 * @param {Iterable<string>} inputs the paths of the bundled files, such as those of esbuild's metafile
 * @param {string} base the folder to which the paths are relative
 */
export function bundledPackages(inputs, base) {
  const folders = new Set();
  for (const input of inputs) {
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
    if (folder !== undefined) folders.add(join(base, folder));
  }
  return [...folders]
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return { name, version, license, folder };
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}
