// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway init bench`: writes a scenario that runs as it is, and the file of its worker. `clearway init plugin`: writes a native plugin.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { didYouMean } from "../bench/nearest-name.js";
import { packageRoot, packagesMissing } from "../machine/optional-packages.js";
import { DEFAULT_FILES } from "./bench.js";
import { makeFolders } from "./out-folder.js";
import { FailedError, print } from "./print.js";
import { shellWord, UsageError } from "./select.js";

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
    DEFAULT_FILES.find((name) => existsSync(name)) === file ? "clearway bench" : `clearway bench ${shellWord(file)}`;
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

// `clearway init plugin`: writes a native plugin in Rust or C that builds as it is, and programs that use it from Node, the JVM and Swift.

interface Tool {
  program: string;
  /** What to do if the program is missing. */
  install: string;
  /** The oldest minor version 1.x, if there is one. */
  minorMin?: number;
}

interface Language {
  tools: readonly Tool[];
  build: string;
}

const languages: Readonly<Record<string, Language>> = {
  rust: {
    tools: [{ program: "cargo", install: "install Rust 1.85 or newer from https://rustup.rs", minorMin: 85 }],
    build: "cargo build --release",
  },
  c: {
    tools: [
      { program: "cc", install: "install a C compiler; on Debian: apt-get install build-essential" },
      { program: "make", install: "install make; on Debian: apt-get install make" },
    ],
    build: "make",
  },
};

const DEFAULT_FOLDER = "my-plugin";

/** Writes the project. Refuses an unknown language, a folder that is not empty, and a machine that cannot build the project. */
function initPlugin({ language, dir = DEFAULT_FOLDER }: { language?: string; dir?: string }): void {
  const known = Object.keys(languages);
  if (language === undefined)
    throw new UsageError(`name the plugin's language: --language ${known.join(" or --language ")}`);
  const chosen = Object.hasOwn(languages, language) ? languages[language] : undefined;
  if (chosen === undefined)
    throw new UsageError(
      `--language ${language}: unknown language; languages: ${known.join(", ")}.${didYouMean(language, known)}`,
    );
  const name = pluginName(dir);
  refuseTaken(dir);
  for (const tool of chosen.tools) requireTool(tool);
  writeProject(dir, [
    ...entriesOf(path.join(packageRoot(), "templates", `plugin-${language}`), (text) => named(text, name)),
    ...entriesOf(copied(language), (text) => text),
  ]);
  const shown = /\s/.test(dir) ? JSON.stringify(dir) : dir;
  print(
    `${dir} has a plugin in ${language === "c" ? "C" : "Rust"}. Build it: cd ${shown} && ${chosen.build}\n` +
      `${path.join(dir, "README.md")} says how to call it from Node, the JVM and Swift.\n`,
  );
}

/** Returns the name of the plugin, such as `sound-plugin`, from its folder's name. It ends in `plugin`, so that it is no keyword. */
function pluginName(dir: string): string {
  const folder = path.basename(path.resolve(dir));
  const words: string[] = folder.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  if (words.at(-1) === "plugin") words.pop();
  if (words.length === 0) words.push("my");
  // The crate that a plugin depends on has the name clearway-plugin.
  if (words.length === 1 && words[0] === "clearway") words.unshift("my");
  const name = [...words, "plugin"].join("-");
  if (!/^[a-z]/.test(name) || name.length > 64)
    throw new UsageError(
      `--dir ${dir}: the folder names the plugin, so its name begins with a letter and has at most 57 letters and digits: name another folder`,
    );
  return name;
}

/** Refuses a path that has something in it, or that cannot be a folder. */
function refuseTaken(dir: string): void {
  let inside: string[];
  try {
    if (statSync(dir, { throwIfNoEntry: false }) === undefined) return;
    inside = readdirSync(dir);
  } catch (error) {
    throw new UsageError(`--dir ${dir}: it is no folder that can be read (${(error as Error).message}); name another`);
  }
  if (inside.length > 0)
    throw new UsageError(
      `--dir ${dir}: the folder is not empty (it has ${inside.sort()[0]}), and init overwrites nothing: name another folder`,
    );
}

function requireTool({ program, install, minorMin }: Tool): void {
  const { error, status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 60_000 });
  if (error !== undefined || status !== 0)
    throw new FailedError(`${program} cannot be started, and the plugin could not be built`, install);
  const [, version, minor] = / (1\.(\d+)\S*)/.exec(stdout) ?? [];
  if (minorMin !== undefined && minor !== undefined && Number(minor) < minorMin)
    throw new FailedError(`${program} is version ${version}, which is too old`, install);
}

/** The folder with the sources that are the same for every plugin of a language. The build puts it beside this file. */
function copied(language: string): string {
  const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), "plugin", language);
  if (!existsSync(folder))
    throw new FailedError(
      "this package was built without the sources for plugins",
      "build it in a clone that has the folder native: make build",
    );
  return folder;
}

interface Entry {
  /** The path in the project. */
  file: string;
  text: string;
}

function entriesOf(folder: string, change: (text: string) => string): Entry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => {
      const from = path.join(each.parentPath, each.name);
      // npm leaves files with the name .gitignore out of packages.
      const file = path.relative(folder, from).replace(/^gitignore$/, ".gitignore");
      const text = change(readFileSync(from, "utf8"));
      return { file, text: file === "Cargo.lock" ? sortedLock(text) : text };
    });
}

/**
 * Replaces the name in a template. Leaves out the licence line, because the file becomes the user's, and the marks of the documentation's
 * snippets.
 */
function named(text: string, name: string): string {
  const words = name.split("-");
  const pascal = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return text
    .replace(/^(\/\/|#|<!--) SPDX.*\n/m, "")
    .replace(/^\/\/ #(end)?region .*\n/gm, "")
    .replaceAll("my-plugin", name)
    .replaceAll("my_plugin", words.join("_"))
    .replaceAll("MyPlugin", pascal);
}

/** Sorts the packages of a Cargo.lock by name, as Cargo does. */
function sortedLock(text: string): string {
  const between = "\n\n[[package]]\n";
  const [head, ...packages] = text.trimEnd().split(between);
  return `${[head, ...packages.sort()].join(between)}\n`;
}

/** Writes all files, or none. Removes only what it has written itself: another program may use the folder at the same time. */
function writeProject(dir: string, entries: readonly Entry[]): void {
  const isNew = !existsSync(dir);
  const written: string[] = [];
  try {
    for (const { file, text } of entries) {
      const target = path.join(dir, file);
      makeFolders(path.resolve(path.dirname(target)));
      // The flag refuses a file that has appeared since the check.
      writeFileSync(target, text, { flag: "wx" });
      written.push(target);
    }
  } catch (error) {
    for (const target of written) rmSync(target, { force: true });
    removeEmpty(dir, entries, isNew);
    throw new UsageError(`--dir ${dir}: it cannot be written (${(error as Error).message}); name another folder`);
  }
}

/** Removes the project's folders that are empty, the innermost first. Keeps a project's folder that was there before. */
function removeEmpty(dir: string, entries: readonly Entry[], isNew: boolean): void {
  const folders = new Set<string>();
  for (const { file } of entries)
    for (let at = path.dirname(file); at !== "."; at = path.dirname(at)) folders.add(path.join(dir, at));
  const innermostFirst = [...folders].sort((a, b) => b.length - a.length);
  for (const folder of isNew ? [...innermostFirst, dir] : innermostFirst) {
    try {
      rmdirSync(folder);
    } catch {
      // The folder was not made, or another program has put something into it.
    }
  }
}
