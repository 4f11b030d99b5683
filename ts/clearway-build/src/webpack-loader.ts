// SPDX-License-Identifier: MIT OR Apache-2.0
import { basename } from "node:path";
import type { LoaderContext } from "webpack";
import { offloadModule } from "./find-calls.js";
import { OffloadRefused } from "./refusal.js";
import { workerModule } from "./rollup-hooks.js";
import { taskFilePath } from "./task-file.js";
import { storeOf } from "./task-store.js";
import { readOffloads } from "./transform.js";

const queryName = "clearway-offload";

type SourceMapArgument = Parameters<LoaderContext<object>["callback"]>[2];

/**
 * Replaces the functions of a source file. A request with the query `?clearway-offload=HASH` is that of a task file: the loader then
 * returns the task file instead of the source.
 */
export default function load(this: LoaderContext<object>, source: string, map?: SourceMapArgument): void {
  const compiler = this._compiler?.root;
  const store = compiler && storeOf.get(compiler);
  if (!store) return this.callback(null, source, map);
  const query = new URLSearchParams(this.resourceQuery).get(queryName);
  const task = query === null ? undefined : store.byHash(query);
  if (query !== null && !task) return this.callback(new Error(`no offloaded functions have the hash ${query}`));
  try {
    const path = task?.path ?? this.resourcePath;
    const code = task?.code ?? source;
    const file = readOffloads(path, code, this.rootContext);
    if (!file) return task ? this.callback(null, task.code, sourceMap(task.map)) : this.callback(null, source, map);
    store.add(file.taskFile);
    const hash = taskFilePath.exec(file.taskFile.path)?.[1] ?? "";
    // The name of the real file: webpack reads it, and this loader then replaces its text.
    const request = JSON.stringify(`./${basename(this.resourcePath)}?${queryName}=${hash}`);
    const { code: written, map: writtenMap } = file.write({
      url: `new __clearwayWorkerFile(new URL(${request}, import.meta.url)).href`,
      base: "location.href",
      worker: `() => new Worker(new URL(${JSON.stringify(workerModule)}, import.meta.url))`,
      imports: `import { WorkerFile as __clearwayWorkerFile } from ${JSON.stringify(offloadModule)};\n`,
    });
    this.callback(null, written, sourceMap(writtenMap));
  } catch (error) {
    this.callback(error instanceof OffloadRefused ? shown(error) : (error as Error));
  }
}

// webpack's type of a map requires a `file`, which it does not read.
const sourceMap = (map: object): SourceMapArgument => JSON.parse(JSON.stringify(map)) as SourceMapArgument;

function shown({ file, refusals }: OffloadRefused): Error {
  const lines = refusals.map(
    ({ message, line, column, frame }) => `${file}:${line}:${column + 1}: ${message}\n${frame}`,
  );
  const error = new Error(lines.join("\n\n"));
  error.stack = ""; // webpack would print the loader's stack
  return error;
}
