// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/release/version.mjs 0.2.0`: sets the version of every package, in every ecosystem, and in the pages. Without a version, checks
// that all places have the same one.
import { report } from "../problems.mjs";
import { current, disagreements, found, setVersion } from "./versions.mjs";

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
