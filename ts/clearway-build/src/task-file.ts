// SPDX-License-Identifier: MIT OR Apache-2.0
import { createHash } from "node:crypto";
import { basename, dirname, extname, join, relative } from "node:path";
import type { Variable } from "@typescript-eslint/scope-manager";
import MagicString, { type SourceMap } from "magic-string";
import type { ImportDeclaration, Node } from "oxc-parser";
import type { ParsedFile } from "./parsed-file.js";

/** A function that moves to the task file. */
export interface TaskSource {
  /** Name of the function in the task file. */
  readonly name: string;
  /** The function, or the expression of an imported one. */
  readonly fn: Node;
  readonly values: readonly string[];
  readonly imports: ReadonlySet<Variable>;
}

/** A module with the offloaded functions of one source file. It exists only during the build. */
export interface TaskFile {
  /** Name in the worker's registry: the name of the source file and a hash of the functions. */
  readonly name: string;
  /** Path next to the source file, so that relative imports and the file's extension mean the same. */
  readonly path: string;
  readonly code: string;
  readonly map: SourceMap;
}

/**
 * Writes the task file. `root` is the folder to which the hash's path is relative.
 *
 * The task file adds its functions to the worker's registry, instead of exporting them: a bundler may build it as a classic script. Each
 * function is inside another one, whose parameters are the captured variables.
 */
export function taskFileOf(file: ParsedFile, path: string, root: string, tasks: readonly TaskSource[]): TaskFile {
  const text = new MagicString(file.code, { filename: basename(path) });
  let end = 0;
  for (const { fn } of tasks) {
    if (fn.start > end) text.remove(end, fn.start);
    end = fn.end;
  }
  if (end < file.code.length) text.remove(end, file.code.length);
  for (const { name, fn, values } of tasks) {
    text.appendRight(fn.start, `${name}: (${values.join(", ")}) => (`);
    text.appendLeft(fn.end, "),\n");
  }
  const imports = importLines(file, tasks);
  const from = relative(root, path).replaceAll("\\", "/");
  const hash = createHash("sha256").update(`${from}\n${imports}\n${text}`).digest("hex").slice(0, 12);
  const extension = extname(path);
  // The name becomes a part of a URL, as it is. The hash keeps it unique.
  const stem = basename(path, extension).replace(/[#%?]/g, "_");
  const name = `${stem}-${hash}`;
  const add = `globalThis.__clearwayOffload?.files.set(${JSON.stringify(name)}, {\n`;
  text.prepend(`// @ts-nocheck\n${jsxPragmas(file)}${imports}${add}`).append("});\n");
  return {
    name,
    path: join(dirname(path), `${stem}.offload-${hash}${extension}`),
    code: text.toString(),
    map: text.generateMap({ source: basename(path), includeContent: true, hires: "boundary" }),
  };
}

/** Matches the path of a task file. The first group is its hash. */
export const taskFilePath = /\.offload-([0-9a-f]{12})\.[cm]?[jt]sx?$/;

/** Writes the imports that the functions use, in the order of the source file. */
function importLines(file: ParsedFile, tasks: readonly TaskSource[]): string {
  const names = new Set(tasks.flatMap(({ imports }) => [...imports].map(({ name }) => name)));
  if (tasks.some(({ fn }) => containsJsx(file, fn))) for (const name of jsxNames(file)) names.add(name);
  const lines: string[] = [];
  for (const statement of file.program.body) {
    if (statement.type !== "ImportDeclaration" || statement.importKind === "type") continue;
    const from = file.code.slice(statement.source.start, statement.end).replace(/;\s*$/, "");
    for (const specifier of statement.specifiers) {
      if (names.has(specifier.local.name)) lines.push(`import ${clauseOf(file, specifier)} from ${from};\n`);
    }
  }
  return lines.join("");
}

function clauseOf(file: ParsedFile, specifier: ImportDeclaration["specifiers"][number]): string {
  const local = specifier.local.name;
  if (specifier.type === "ImportDefaultSpecifier") return local;
  if (specifier.type === "ImportNamespaceSpecifier") return `* as ${local}`;
  return `{ ${file.code.slice(specifier.imported.start, specifier.imported.end)} as ${local} }`;
}

function containsJsx({ parents }: ParsedFile, fn: Node): boolean {
  for (const node of parents.keys()) {
    const isJsx = node.type === "JSXElement" || node.type === "JSXFragment";
    if (isJsx && node.start >= fn.start && node.end <= fn.end) return true;
  }
  return false;
}

// Names that compiled JSX may use in its classic form. The bundler's settings may name them, which the plugin does not see.
function jsxNames(file: ParsedFile): string[] {
  const pragmas = [...jsxPragmas(file).matchAll(/@jsx(?:Frag)?\s+(\w+)/g)].map(([, name]) => name ?? "");
  return ["React", "h", "Fragment", ...pragmas];
}

// `/** @jsxImportSource preact */` decides how the file's JSX is compiled.
function jsxPragmas({ comments }: ParsedFile): string {
  const pragmas = comments.filter(({ type, value }) => type === "Block" && /@jsx/.test(value));
  return pragmas.map(({ value }) => `/*${value}*/\n`).join("");
}
