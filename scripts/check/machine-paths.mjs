// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks that committed files name no places of one person's machine or network: home folders, checkouts, package registries.
import { isProgram, report } from "../problems.mjs";
import { files } from "../sources.mjs";

// The patterns are written in pieces, so that this file does not match them.
const places = [
  { pattern: new RegExp(`(^|[^\\w.])/${"work"}/`), what: "a checkout's absolute path" },
  { pattern: new RegExp(`(^|[^\\w.])/${"root"}/`), what: "a home folder" },
  { pattern: new RegExp(`(^|[^\\w.])/${"home"}/\\w`), what: "a home folder" },
  { pattern: new RegExp(`(^|[^\\w.])/${"Users"}/\\w`), what: "a home folder" },
  { pattern: new RegExp(`"resolved": *"https?${":"}//`), what: "a package registry's host" },
  { pattern: new RegExp(`${"registry"}=|_auth${"Token"}`), what: "a package registry" },
];

const text =
  /\.(ts|tsx|mts|js|mjs|json|jsonl|md|html|css|svg|sh|rs|c|h|swift|toml|lock|yml|yaml|txt|csv)$|(^|\/)(Makefile|\.npmrc|\.gitignore)$|^\.ci\//;

/** Returns a problem for each line of `[{ path, text }]` that names such a place. */
export function machineProblems(sources) {
  return sources.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => {
      const place = places.find(({ pattern }) => pattern.test(line));
      return place ? [`${path}:${index + 1}: names ${place.what}: ${line.trim().slice(0, 100)}`] : [];
    }),
  );
}

if (isProgram(import.meta)) {
  const sources = files(text);
  report(machineProblems(sources), `${sources.length} files name no place of one machine`);
}
