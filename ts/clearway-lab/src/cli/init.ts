// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway init bench`: writes a scenario that runs as it is, and the file of its worker.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { makeFolders } from "../machine/make-folders.js";
import { packageRoot } from "../machine/package-root.js";
import { DEFAULT_FILES } from "./bench.js";
import { UsageError } from "./select.js";

export function addInit(program: Command): void {
  program
    .command("init")
    .description("write an example file; bench is a scenario for `clearway bench`")
    .argument("<what>", "bench")
    .argument("[file]", "the file; its extension (.ts or .js) chooses the language", DEFAULT_FILES[0])
    .action((what: string, file: string) => {
      if (what !== "bench") throw new UsageError(`unknown example "${what}". Examples: bench`);
      initBench(file);
    });
}

function initBench(file: string): void {
  const extension = path.extname(file);
  const language = /^\.m?ts$/.test(extension) ? "ts" : /^\.m?js$/.test(extension) ? "js" : undefined;
  if (language === undefined) throw new UsageError(`${file}: the name must end in .ts, .mts, .js or .mjs`);
  const stem = path.basename(file, extension);
  const tasks = path.join(path.dirname(file), `${stem}.tasks${extension}`);
  const taken = [file, tasks].find((each) => existsSync(each));
  if (taken !== undefined)
    throw new UsageError(
      `${taken} exists, and init overwrites nothing: name another file, \`clearway init bench NAME.${language}\``,
    );
  try {
    makeFolders(path.dirname(path.resolve(file)));
    // The flag refuses a file that has appeared since the check.
    for (const [target, name] of [
      [file, `bench.${language}`],
      [tasks, `bench.tasks.${language}`],
    ] as const)
      writeFileSync(target, template(name, stem, extension), { flag: "wx" });
  } catch (error) {
    throw new UsageError(`${file}: it cannot be written (${(error as Error).message}); name another file`);
  }
  const run =
    file === DEFAULT_FILES[0] ? "clearway bench" : `clearway bench ${/\s/.test(file) ? JSON.stringify(file) : file}`;
  process.stdout.write(
    `${file} and ${tasks} written. Change the function in ${path.basename(tasks)}, then run: npx ${run}\n`,
  );
}

/** Returns a template for a scenario with another name. Leaves out the licence line, because the file becomes the user's. */
function template(name: string, stem: string, extension: string): string {
  const text = readFileSync(path.join(packageRoot(), "templates", name), "utf8");
  // A TypeScript file imports the JavaScript that its neighbour would become, such as .mjs for .mts.
  const imported = extension.replace("ts", "js");
  const language = path.extname(name);
  return text
    .replace(/^\/\/ SPDX.*\n/, "")
    .replace(/\bbench(\.tasks)?(\.[tj]s)\b/g, (_, part: string = "", written: string) => {
      return `${stem}${part}${written === language ? extension : imported}`;
    });
}
