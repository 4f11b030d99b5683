// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks that every source file names its licence near its top, and that the licence texts of every crate are those of the root. The build
// copies them into the npm packages.
// `--write` copies the texts.
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, report } from "../problems.mjs";
import { files, generated, licences, root, source } from "../sources.mjs";

const line = "SPDX-License-Identifier: MIT OR Apache-2.0";

/** Returns a problem for each of `[{ path, text }]` without the licence line in its first three lines, after a `#!` or a doctype. */
export function licenceProblems(sources) {
  return sources
    .filter(({ text }) => !text.split("\n", 3).some((first) => first.includes(line)))
    .map(({ path }) => `${path}: its first line should be: // ${line}`);
}

const crates = ["codec", "plugin", "plugin-macros", "sys"].map((name) => `native/crates/${name}`);

function copies(write) {
  const problems = [];
  for (const folder of crates) {
    for (const name of licences) {
      const [from, to] = [join(root, name), join(root, folder, name)];
      if (write) copyFileSync(from, to);
      else if (!existsSync(to) || readFileSync(to, "utf8") !== readFileSync(from, "utf8")) {
        problems.push(`${folder}/${name}: differs from ${name} at the root: make fmt`);
      }
    }
  }
  return problems;
}

if (isProgram(import.meta)) {
  const sources = files(source).filter(({ path }) => !generated.test(path));
  const problems = [...licenceProblems(sources), ...copies(process.argv.includes("--write"))];
  report(problems, `${sources.length} files say their licence`);
}
