// SPDX-License-Identifier: MIT OR Apache-2.0
// Exits with status 0 if node_modules contains the packages that package-lock.json requires. Compares package-lock.json with the lock file
// that npm keeps in node_modules. The result is therefore also correct after `git pull` and after an interrupted install.
import { readFileSync } from "node:fs";

function packages(path) {
  try {
    return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).packages;
  } catch {
    return undefined;
  }
}

const wanted = packages("../package-lock.json");
const present = packages("../node_modules/.package-lock.json");

function fits([path, want]) {
  if (!path.includes("node_modules/")) return true; // the workspace's own packages
  const have = present[path];
  if (!have) return want.optional === true; // a package for another platform
  return have.link === true ? want.link === true : have.version === want.version && have.integrity === want.integrity;
}

process.exit(wanted && present && Object.entries(wanted).every(fits) ? 0 : 1);
