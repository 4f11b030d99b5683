// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the committed public API of each Swift library, in swift/api, with the built one. A line is a declaration. `--write` replaces the
// committed API. Needs a build of the package, which this script makes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isProgram, report } from "../problems.mjs";
import { compile, folder, missing, modules, toolchain } from "../swift.mjs";

/** The libraries whose API is public. */
const libraries = ["ClearwayChannel", "ClearwayPlugin", "ClearwayTasks", "ClearwayMeter"];

/** Returns the declarations of a symbol graph, sorted, one per line. Leaves out what the compiler adds. */
export function declarations({ symbols }) {
  const lines = symbols
    .filter(({ identifier }) => !identifier.precise.includes("::SYNTHESIZED::"))
    .map(({ pathComponents, declarationFragments = [] }) => {
      const owner = pathComponents.slice(0, -1).join(".");
      const text = declarationFragments.map(({ spelling }) => spelling).join("");
      return `${owner}: ${text.replace(/\s+/g, " ")}`.replace(/^: /, "");
    });
  return [...new Set(lines)]
    .sort()
    .map((line) => `${line}\n`)
    .join("");
}

function extracted(library, into) {
  const tool = join(dirname(toolchain().swift), "swift-symbolgraph-extract");
  const program = toolchain().swift.includes("/") ? tool : "swift-symbolgraph-extract";
  const places = ["-module-name", library, "-I", modules(), "-target", toolchain().target];
  // The C module that ClearwayPlugin imports. The package manager writes its module map.
  const c = join(dirname(modules()), "CClearway.build/module.modulemap");
  if (existsSync(c)) places.push("-Xcc", `-fmodule-map-file=${c}`);
  const options = ["-minimum-access-level", "public", "-output-dir", into, "-skip-synthesized-members"];
  const { status, stderr, error } = spawnSync(program, [...places, ...options], { encoding: "utf8" });
  if (status !== 0) return { problem: `${library}: no API could be read: ${error?.message ?? stderr.split("\n")[0]}` };
  // Extensions of other modules' types have files of their own.
  const files = readdirSync(into).filter((name) => name.startsWith(library) && name.endsWith(".symbols.json"));
  const symbols = files.flatMap((name) => JSON.parse(readFileSync(join(into, name), "utf8")).symbols);
  return { text: declarations({ symbols }) };
}

if (isProgram(import.meta)) {
  if (toolchain() === undefined) console.log(`  left out: ${missing}`);
  else if (compile() !== 0) report(["swift/ was not built"], "");
  else {
    const into = mkdtempSync(join(tmpdir(), "clearway-swift-api-"));
    const problems = [];
    for (const library of libraries) {
      const { text, problem } = extracted(library, into);
      const path = join(folder, "api", `${library}.txt`);
      const committed = existsSync(path) ? readFileSync(path, "utf8") : "";
      if (problem) problems.push(problem);
      else if (process.argv.includes("--write")) {
        mkdirSync(dirname(path), { recursive: true });
        if (text !== "") writeFileSync(path, text);
      } else if (text !== committed)
        problems.push(`swift/api/${library}.txt is not what was built; look at the difference after: make fmt`);
    }
    rmSync(into, { recursive: true });
    report(problems, `${libraries.length} Swift libraries have the committed API`);
  }
}
