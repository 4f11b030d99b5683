// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the committed public API of each package, in its folder `api`, with the built API. Every change of the API is therefore visible
// in a review. `--write` replaces the committed API with the built one.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProgram, report } from "../problems.mjs";
import { root } from "../sources.mjs";

/** The entry files of each npm package, in the package's `src`. */
export const packages = {
  "ts/clearway": [
    "index",
    "worker",
    "callback",
    "transfer",
    "meter",
    "meter-metrics",
    "meter-trace",
    "records",
    "channel",
    "stdio",
    "websocket",
    "websocket-server",
    "window",
    "shared-worker",
    "service-worker",
    "extension",
    "remote",
    "offload",
    "offload-worker",
    "records-arrow",
  ],
  "ts/clearway-build": ["vite", "rollup", "esbuild", "webpack"],
  "ts/clearway-native": ["index", "channel"],
  "ts/clearway-nats": ["index", "serve"],
};

const declarations = (folder) =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".d.ts")) : [];

/** Returns the names of the declaration files that differ between two folders. */
export function differences(one, other) {
  const names = new Set([...declarations(one), ...declarations(other)]);
  const read = (folder, name) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : undefined;
  return [...names].sort().filter((name) => read(one, name) !== read(other, name));
}

function check(folder, entries) {
  const [built, committed] = [`${folder}/dist`, `${folder}/api`];
  const [from, to] = [join(root, built), join(root, committed)];
  const problems = entries
    .filter((entry) => !existsSync(join(from, `${entry}.d.ts`)))
    .map((entry) => `${built}/${entry}.d.ts was not built`);
  if (process.argv.includes("--write") && problems.length === 0) {
    rmSync(to, { recursive: true, force: true });
    mkdirSync(to, { recursive: true });
    for (const name of declarations(from)) cpSync(join(from, name), join(to, name));
  }
  for (const name of differences(from, to)) {
    const diff = ["diff", "--no-index", "--no-color", "--", `${committed}/${name}`, `${built}/${name}`];
    spawnSync("git", diff, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    problems.push(`${committed}/${name} is not what was built; look at the difference, then: make fmt`);
  }
  return problems;
}

if (isProgram(import.meta)) {
  const problems = Object.entries(packages).flatMap(([folder, entries]) => check(folder, entries));
  const count = Object.keys(packages).reduce((sum, folder) => sum + declarations(join(root, folder, "api")).length, 0);
  report(problems, `${count} declaration files are as committed`);
}
