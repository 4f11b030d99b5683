// SPDX-License-Identifier: MIT OR Apache-2.0
import { basename } from "node:path";
import MagicString, { type SourceMap } from "magic-string";
import type { CallExpression, Node } from "oxc-parser";
import { capturesOf, isFunction } from "./captures.js";
import { findCalls, offloadModule } from "./find-calls.js";
import { type ParsedFile, parseFile, unwrapped, within } from "./parsed-file.js";
import { OffloadRefused, placed, type Refusal } from "./refusal.js";
import { type TaskFile, type TaskSource, taskFileOf } from "./task-file.js";

/** How the code of a bundle refers to the files of the workers. All fields are JavaScript expressions. */
export interface References {
  /** URL of the task file. Undefined if the bundle is that of the task file itself. */
  readonly url: string | undefined;
  /** URL of the module that contains the call. */
  readonly base: string;
  /** URL of the worker's file. Undefined if the library finds it itself. */
  readonly worker: string | undefined;
  /** Import statements that the expressions need. */
  readonly imports: string;
}

/** A source file without its offloaded functions. */
export interface Transformed {
  readonly code: string;
  readonly map: SourceMap;
}

/** A source file with calls of `offload()`, before its code is written. */
export interface OffloadFile {
  readonly taskFile: TaskFile;
  /** Writes the source file. Each function is replaced by a reference to the task file. */
  write(references: References): Transformed;
}

/** Whether a file may contain calls of `offload()`. Parsing every file of an app would take too long. */
export const mayOffload = (code: string): boolean => code.includes(offloadModule);

/**
 * Reads a source file. Returns undefined if it has no call of `offload()`, and if it has a syntax error, which the bundler reports.
 *
 * Throws {@link OffloadRefused} for functions that cannot move to a worker. `root` is the folder of the project.
 */
export function readOffloads(path: string, code: string, root: string): OffloadFile | undefined {
  if (!mayOffload(code)) return undefined;
  const file = parseFile(path, code);
  if (!file) return undefined;
  const calls = outermost(file, findCalls(file));
  if (calls.length === 0) return undefined;
  const refusals: Refusal[] = [];
  const tasks: (TaskSource & { stream: boolean; argument: Node })[] = [];
  for (const { argument, fn } of calls) {
    const captures = capturesOf(file, fn);
    refusals.push(...(isFunction(fn) || isImported(file, fn) ? captures.refusals : [wrongArgument(argument)]));
    const stream = fn.type === "FunctionExpression" && fn.generator;
    tasks.push({ name: `task${tasks.length}`, fn, argument, stream, ...captures });
  }
  const [first, ...others] = refusals.map((refusal) => placed(code, refusal));
  if (first) throw new OffloadRefused(path, [first, ...others]);
  const taskFile = taskFileOf(file, path, root, tasks);
  return { taskFile, write: (references) => write(file, path, taskFile.name, tasks, references) };
}

interface Call {
  /** The first argument as it is written. */
  readonly argument: Node;
  /** The first argument without TypeScript's wrappers. */
  readonly fn: Node;
}

// A call inside an offloaded function belongs to the task file, which is transformed when the bundler loads it.
function outermost(file: ParsedFile, calls: readonly CallExpression[]): Call[] {
  const found: Call[] = [];
  for (const call of calls) {
    const [argument] = call.arguments;
    if (!argument || found.some(({ fn }) => within(call, fn))) continue;
    const fn = unwrapped(argument);
    if (!isWritten(file, fn)) found.push({ argument, fn });
  }
  // The function of `offload.with(await offload(first))(second)` begins after the one inside it.
  return found.sort((one, other) => one.fn.start - other.fn.start);
}

// Whether the plugin has already replaced this function. An app may have the plugin twice.
function isWritten({ code }: ParsedFile, fn: Node): boolean {
  return fn.type === "CallExpression" && /^__clearwayTask\d*\(/.test(code.slice(fn.start, fn.end));
}

/** Whether the expression is an import, `work`, or a member of an imported namespace, `module.work`. */
function isImported(file: ParsedFile, fn: Node): boolean {
  const member = fn.type === "MemberExpression" && !fn.computed ? fn.object : undefined;
  const name = member ?? fn;
  const reference = file.references.find(({ identifier }) => (identifier as unknown as Node) === name);
  const kinds = reference?.resolved?.defs ?? [];
  return kinds.some(
    ({ type, node }) =>
      (type as string) === "ImportBinding" && (!member || (node.type as string) === "ImportNamespaceSpecifier"),
  );
}

function wrongArgument({ type, start, end }: Node): Refusal {
  const message =
    type === "SpreadElement"
      ? "write the function as the first argument of offload(), before the `...`"
      : "offload() needs a function that is written here, or an imported one: write `offload((a) => work(a), a)`, or move the " +
        "function to a module and import it";
  return { message, start, end };
}

function write(
  file: ParsedFile,
  path: string,
  taskFile: string,
  tasks: readonly (TaskSource & { stream: boolean; argument: Node })[],
  { url, base, worker, imports }: References,
): Transformed {
  const text = new MagicString(file.code, { filename: basename(path) });
  let builtTask = "__clearwayTask";
  for (let at = 0; file.code.includes(builtTask); at++) builtTask = `__clearwayTask${at}`;
  for (const { name, argument, values, stream } of tasks) {
    const fields = [
      `file: ${JSON.stringify(taskFile)}`,
      `name: ${JSON.stringify(name)}`,
      `url: ${url ?? "undefined"}`,
      `base: ${base}`,
      ...(worker ? [`worker: ${worker}`] : []),
      ...(stream ? ["stream: true"] : []),
    ];
    text.overwrite(argument.start, argument.end, `${builtTask}(${[`{ ${fields.join(", ")} }`, ...values].join(", ")})`);
  }
  // At the end: lines keep their numbers, directives stay first, and an import works wherever it is written.
  text.append(`\nimport { builtTask as ${builtTask} } from ${JSON.stringify(offloadModule)};\n${imports}`);
  return {
    code: text.toString(),
    map: text.generateMap({ source: basename(path), includeContent: true, hires: "boundary" }),
  };
}
