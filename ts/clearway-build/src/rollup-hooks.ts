// SPDX-License-Identifier: MIT OR Apache-2.0

import { sourceFile } from "./parsed-file.js";
import { OffloadRefused } from "./refusal.js";
import { splitId, type TaskStore } from "./task-store.js";
import { type OffloadFile, type References, readOffloads } from "./transform.js";

/** The parts of a plugin's `this` in Rollup, Rolldown and Vite that this package uses. */
export interface BundlerContext {
  emitFile(file: { type: "chunk"; id: string; name?: string }): string;
  resolve(
    source: string,
    importer?: string,
  ): Promise<{ id: string; external?: boolean | "absolute" | "relative" } | null>;
  error(error: {
    message: string;
    id: string;
    frame: string;
    loc: { file: string; line: number; column: number };
  }): never;
}

/** The id under which bundlers import the worker. */
export const workerModule = "clearway/offload/worker";

/** Resolves the id of a task file: its absolute path, with the query of the request. */
export function resolveTaskFile(store: TaskStore, id: string): string | undefined {
  const file = store.find(id);
  return file && slashes(file.path) + splitId(id).query;
}

/** Returns the code of a task file, and undefined for every other id. */
export function loadTaskFile(store: TaskStore, id: string) {
  const file = store.find(id);
  // The registration is a side effect, also in a package that says it has none.
  return file && { code: file.code, map: file.map.toString(), moduleSideEffects: true };
}

/** Reads a source file, adds its task file to the store, and reports refusals as errors of the bundler. */
export function readModule(
  context: BundlerContext,
  store: TaskStore,
  { code, id, root }: { code: string; id: string; root: string },
): OffloadFile | undefined {
  const { path } = splitId(id);
  if (!sourceFile.test(path)) return undefined;
  try {
    const file = readOffloads(path, code, root);
    if (file) store.add(file.taskFile);
    return file;
  } catch (error) {
    if (!(error instanceof OffloadRefused)) throw error;
    const [{ message, line, column, frame }, ...others] = error.refusals;
    const rest = others.map(
      (other) => `\n\n${path}:${other.line}:${other.column + 1}: ${other.message}\n${other.frame}`,
    );
    return context.error({ message: message + rest.join(""), id: path, frame, loc: { file: path, line, column } });
  }
}

/**
 * Emits the task file and the worker as chunks of the same bundle, and returns how the code refers to them. Adds the references of the
 * chunks to `emitted`.
 */
export async function emitChunks(
  context: BundlerContext,
  file: OffloadFile,
  importer: string,
  emitted = new Set<string>(),
): Promise<References> {
  const { path, name } = file.taskFile;
  const emit = (id: string, chunk: string): string => {
    const reference = context.emitFile({ type: "chunk", id, name: chunk });
    emitted.add(reference);
    return `import.meta.ROLLUP_FILE_URL_${reference}`;
  };
  const url = emit(slashes(path), name);
  const worker = await context.resolve(workerModule, importer);
  // An external package stays in node_modules, where `clearway/offload` finds its worker next to itself.
  const bundled = worker && !worker.external;
  return {
    url,
    base: "import.meta.url",
    worker: bundled ? emit(worker.id, "offload-worker") : undefined,
    imports: "",
  };
}

/** Bundlers write paths with slashes on every system. */
export const slashes = (path: string): string => path.replaceAll("\\", "/");
