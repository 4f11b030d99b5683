// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway init bench`: writes a scenario that runs as it is, and the file of its worker. `clearway init plugin` is in init-plugin.ts.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { didYouMean } from "../bench/nearest-name.js";
import { packageRoot, packagesMissing } from "../machine/optional-packages.js";
import { DEFAULT_FILES } from "./bench.js";
import { DEFAULT_FOLDER, initPlugin } from "./init-plugin.js";
import { makeFolders } from "./out-folder.js";
import { print } from "./print.js";
import { UsageError } from "./select.js";

const EXAMPLES = ["bench", "plugin"];

export function addInit(program: Command): void {
  program
    .command("init")
    .description("write an example: a scenario for `clearway bench`, or a native plugin")
    .argument("<what>", "bench or plugin")
    .argument(
      "[file]",
      "bench: the file; its extension (.ts or .js) chooses the language; default: bench.ts, or bench.mjs without esbuild",
    )
    .option("--language <name>", "plugin: rust or c")
    .option("--dir <folder>", `plugin: the folder, which must be new or empty; default: ${DEFAULT_FOLDER}`)
    .action((what: string, file: string | undefined, options: { language?: string; dir?: string }) => {
      if (what === "plugin") {
        if (file !== undefined)
          throw new UsageError(`init plugin writes a folder: clearway init plugin --language rust --dir ${file}`);
        initPlugin(options);
        return;
      }
      if (what !== "bench")
        throw new UsageError(
          `unknown example "${what}". Examples: ${EXAMPLES.join(", ")}.${didYouMean(what, EXAMPLES)}`,
        );
      const odd = Object.keys(options)[0];
      if (odd !== undefined) throw new UsageError(`--${odd} is for init plugin: leave it out of init bench`);
      initBench(file ?? defaultFile());
    });
}

/** Returns a file that `clearway bench` can run: TypeScript needs esbuild. */
const defaultFile = (): string => (packagesMissing(["esbuild"]) === undefined ? "bench.ts" : "bench.mjs");

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
    DEFAULT_FILES.find((name) => existsSync(name)) === file
      ? "clearway bench"
      : `clearway bench ${/\s/.test(file) ? JSON.stringify(file) : file}`;
  print(`${file} and ${tasks} written. Change the function in ${path.basename(tasks)}, then run: npx ${run}\n`);
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
