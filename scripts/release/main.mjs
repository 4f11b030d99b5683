// SPDX-License-Identifier: MIT OR Apache-2.0
// `make release`: builds everything that is published into out/release, with checksums, an SBOM and the changes. `PART...` selects parts,
// such as npm. `--allow-dirty` also releases files that are not committed. `--out DIR` names another folder.
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { root } from "../sources.mjs";
import { published } from "../workspaces.mjs";
import { crates, targets } from "./addon.mjs";
import { filesIn, notes } from "./checks.mjs";
import { partsIn, ReleaseError, release } from "./parts.mjs";
import { sbom } from "./sbom.mjs";

const options = { "allow-dirty": { type: "boolean" }, out: { type: "string" } };

function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new ReleaseError([error.message]);
  }
}

function build() {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new ReleaseError(["the build failed; its message is above"]);
}

/** The documents beside the packages. Without a commit, they have the first moment of 1970. */
function documents(version, time = "1970-01-01T00:00:00Z") {
  const names = published().map(({ name }) => name);
  const bom = sbom({ at: root, version, names, crates: crates(targets[0]), time });
  return {
    "CHANGELOG.md": notes(version),
    "sbom.cdx.json": `${JSON.stringify(bom, null, 2)}\n`,
  };
}

try {
  const { values, positionals } = parsed();
  const isDefault = values.out === undefined;
  const out = isDefault ? join(root, "out/release") : resolve(values.out);
  const parts = await partsIn(dirname(fileURLToPath(import.meta.url)));
  const allowDirty = values["allow-dirty"] === true;
  const { version, leftOut } = await release({
    root,
    out,
    parts,
    only: positionals,
    allowDirty,
    isDefault,
    build,
    documents,
  });
  for (const path of filesIn(out)) if (!path.startsWith("maven/")) console.log(`  ${path}`);
  for (const { name, missing } of leftOut) console.log(`  left out: ${name}: ${missing}`);
  console.log(`release: Clearway ${version} is in ${out}`);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  for (const problem of error.problems) console.error(`release: ${problem}`);
  console.error("release: no release was made. docs/releasing.md says what a release needs");
  process.exitCode = 1;
}
