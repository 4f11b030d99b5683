// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the package.json files and the lock file: the library has no dependencies, versions are exact, no entry names a host, and published
// packages name the repository.
import { owner } from "../jvm-publish.mjs";
import { isProgram, report } from "../problems.mjs";
import { files } from "../sources.mjs";
import { published } from "../workspaces.mjs";
import { peers } from "./import-rules.mjs";

const exact = /^(npm:[^@]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;

/** Returns the problems of one package.json. */
export function manifestProblems(path, manifest) {
  const problems = [];
  if (manifest.name === "clearway") {
    for (const field of ["dependencies", "optionalDependencies", "peerDependencies", "bundleDependencies"]) {
      const optional = (name) => name in peers && manifest.peerDependenciesMeta?.[name]?.optional === true;
      const names = Object.keys(manifest[field] ?? {}).filter(
        (name) => field !== "peerDependencies" || !optional(name),
      );
      if (names.length > 0) problems.push(`${path}: clearway has no runtime dependency; ${field}: ${names.join(", ")}`);
    }
  }
  for (const field of ["dependencies", "devDependencies", "optionalDependencies"]) {
    for (const [name, range] of Object.entries(manifest[field] ?? {})) {
      if (!exact.test(range)) problems.push(`${path}: ${name} is not pinned: ${range}`);
    }
  }
  if (manifest.license !== "MIT OR Apache-2.0") problems.push(`${path}: license should be "MIT OR Apache-2.0"`);
  if (manifest.type !== "module") problems.push(`${path}: type should be "module"`);
  return problems;
}

/** Returns a problem if the manifest of the published package in `folder` has other addresses than those of the repository of `owner`. */
export function addressProblems({ folder, manifest }, owner) {
  const page = `https://github.com/${owner}/clearway`;
  const right = {
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
    repository: { type: "git", url: `git+${page}.git`, directory: folder },
  };
  return Object.entries(right)
    .filter(([field, value]) => JSON.stringify(manifest[field]) !== JSON.stringify(value))
    .map(([field, value]) => `${folder}/package.json: ${field} should be ${JSON.stringify(value)}`);
}

/** Returns the problems of package-lock.json. */
export function lockProblems(lock) {
  return Object.entries(lock.packages).flatMap(([path, entry]) => {
    if (!path.includes("node_modules/") || entry.link) return [];
    const problems = [];
    if (entry.resolved) problems.push(`package-lock.json: ${path} names a host; keep omit-lockfile-registry-resolved`);
    if (!entry.integrity) problems.push(`package-lock.json: ${path} has no integrity`);
    return problems;
  });
}

if (isProgram(import.meta)) {
  const manifests = files(/(^|\/)package\.json$/);
  const [lock] = files(/^package-lock\.json$/);
  const problems = manifests.flatMap(({ path, text }) => manifestProblems(path, JSON.parse(text)));
  const addresses = published().flatMap((each) => addressProblems(each, owner()));
  report(
    [...problems, ...addresses, ...lockProblems(JSON.parse(lock.text))],
    `${manifests.length} manifests and the lock file are in order`,
  );
}
