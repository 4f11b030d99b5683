// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and sets Clearway's version in the files of every ecosystem. All packages have the same version.
// `node scripts/release/version.mjs 0.2.0` sets it. Without a version, checks that all places have the same one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, report } from "../problems.mjs";
import { files, root } from "../sources.mjs";
import { writeFiles } from "../write-files.mjs";

const semver = String.raw`\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?`;
/** The name of a package, crate or artifact. */
const own = "clearway(?:-[a-z0-9]+)*";
const after = (before, end) => new RegExp(`${before}(?<version>${semver})${end}`, "dgm");
/** The same for a requirement without the patch version, such as `version = "0.1"`. */
const minorAfter = (before, end) => new RegExp(`${before}(?<minor>\\d+\\.\\d+)${end}`, "dgm");

/** Files whose versions belong to the past: runs, changes and decisions. */
const history = String.raw`(?!CHANGELOG\.md$|lab/records/|spec/decisions/)`;

/** Where versions are written. The text before a version says that it is Clearway's own. */
export const places = [
  {
    what: "npm",
    files: /(^|\/)package\.json$/,
    patterns: [after(`"name": "${own}",\\s+"version": "`, '"'), after(`"${own}": "`, '"')],
  },
  {
    what: "npm's lock file",
    files: /^package-lock\.json$/,
    patterns: [
      after(`"ts/${own}": \\{\\s+(?:"name": "${own}",\\s+)?"version": "`, '"'),
      after(`^ {8}"${own}": "`, '"'),
    ],
  },
  {
    what: "Cargo",
    files: /(^|\/)Cargo\.toml$/,
    patterns: [
      after('^\\[workspace\\.package\\]\\n(?:[^\\[\\n].*\\n)*?version = "', '"'),
      after(`^name = "${own}"\\n(?:[^\\[\\n].*\\n)*?version = "`, '"'),
      after(`^${own} = \\{[^}\\n]*\\bversion = "`, '"'),
      minorAfter('Once the crate is published, write: version = "', '"'),
    ],
  },
  {
    what: "Cargo's lock files",
    files: /(^|\/)Cargo\.lock$/,
    patterns: [after(`^name = "${own}"\\nversion = "`, '"\\n(?!source)')],
  },
  {
    what: "Maven",
    files: /(^|\/)pom\.xml$/,
    patterns: [
      after(`<artifactId>${own}</artifactId>(?:\\s|<!--[^>]*-->)*<version>`, "</version>"),
      after("<(?:revision|clearway\\.version)>", "</"),
    ],
  },
  {
    what: "the pages",
    files: new RegExp(`^${history}.*\\.md$`),
    patterns: [
      after(`\\b${own}-`, "\\.(?:tgz|tar\\.gz)\\b"),
      after(`\\b${own}@`, "\\b"),
      after(`:${own}:`, "\\b"),
      after(`<artifactId>${own}</artifactId>(?:\\s|<!--[^>]*-->)*<version>`, "</version>"),
      after("\\bVersion ", " is not published"),
      after("\\bhave the version `", "`"),
    ],
  },
];

/** Returns every place that names a version, as `[{ what, path, line, version, range, minor }]`. */
export function found(at = root) {
  return places.flatMap(({ what, files: pattern, patterns }) =>
    files(pattern, at).flatMap(({ path, text }) =>
      patterns.flatMap((each) =>
        [...text.matchAll(each)].map(({ groups, indices }) => {
          const [key] = Object.entries(groups).find(([, value]) => value !== undefined);
          const [start, end] = indices.groups[key];
          const line = text.slice(0, start).split("\n").length;
          return { what, path, line, version: groups[key], range: [start, end], minor: key === "minor" };
        }),
      ),
    ),
  );
}

/** Returns the version that counts: that of the package `clearway`. */
export const current = (at = root) => JSON.parse(readFileSync(join(at, "ts/clearway/package.json"), "utf8")).version;

const asWritten = (version, minor) => (minor ? version.split(".").slice(0, 2).join(".") : version);

/** Returns a problem for each place whose version is not `version`, by default that of the package `clearway`. */
export function disagreements(at = root, version = current(at)) {
  return found(at)
    .filter((place) => place.version !== asWritten(version, place.minor))
    .map(({ path, line, version: other, minor }) => {
      const wanted = asWritten(version, minor);
      return `${path}:${line}: has the version ${other}, and the release has ${wanted}: node scripts/release/version.mjs ${version}`;
    });
}

/** Sets the version in every place. Returns the sorted paths of the changed files. Throws a TypeError for a text that is no version. */
export function setVersion(version, at = root) {
  if (!new RegExp(`^${semver}$`).test(version))
    throw new TypeError(`version must be three numbers, such as 0.2.0: version=${JSON.stringify(version)}`);
  const byPath = new Map();
  for (const place of found(at)) {
    if (place.version === asWritten(version, place.minor)) continue;
    byPath.set(place.path, [...(byPath.get(place.path) ?? []), place]);
  }
  const changed = {};
  for (const [path, all] of byPath) {
    let text = readFileSync(join(at, path), "utf8");
    // From the end, so that the ranges before stay right. Two patterns may find the same place.
    const ranges = new Map(all.map((place) => [place.range[0], place]));
    for (const { range, minor } of [...ranges.values()].sort((a, b) => b.range[0] - a.range[0]))
      text = text.slice(0, range[0]) + asWritten(version, minor) + text.slice(range[1]);
    changed[join(at, path)] = text;
  }
  writeFiles(changed);
  return [...byPath.keys()].sort();
}

if (isProgram(import.meta)) {
  const [version, ...rest] = process.argv.slice(2);
  if (rest.length > 0) {
    console.error(`version: name one version; also given: ${rest.join(" ")}`);
    process.exitCode = 2;
  } else if (version === undefined) {
    report(disagreements(), `${found().length} places have the version ${current()}`);
  } else {
    try {
      for (const path of setVersion(version)) console.log(`  ${path}`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      console.error(`version: ${error.message}`);
      process.exitCode = 2;
    }
  }
}
