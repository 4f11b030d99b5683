// SPDX-License-Identifier: MIT OR Apache-2.0
// Removes the types of a measured script with esbuild. Without esbuild, Node 22.18 and newer do that, with limits: an import must name the .ts
// file, and the package may not be one of CommonJS.
import { readFile } from "node:fs/promises";
import type { LoadHook, ResolveHook } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { packagesMissing } from "../machine/optional-packages.js";

export const TYPESCRIPT = /\.[cm]?ts$/;

/** Returns JavaScript with a source map inside. The same text gives the same result, so a reader of the profile can make it again. */
export async function withoutTypes(text: string, name: string): Promise<string> {
  // Loaded only here: every measured process loads this file.
  const { transform } = await import("esbuild");
  const { code } = await transform(text, {
    loader: "ts",
    format: name.endsWith(".cts") ? "cjs" : "esm",
    target: "node20",
    sourcefile: name,
    sourcemap: "inline",
  });
  return code;
}

/** Whether esbuild is installed. */
export const hasEsbuild = (): boolean => packagesMissing(["esbuild"]) === undefined;

/** Returns what is missing to run a file: undefined, or what to install. */
export function compilerMissing(file: string): string | undefined {
  const runsTypescript = Boolean((process.features as { typescript?: unknown }).typescript);
  return TYPESCRIPT.test(file) && !runsTypescript ? packagesMissing(["esbuild"]) : undefined;
}

// Hooks of Node's module loader, in the process of a measured script in TypeScript, if esbuild is installed.

/** Resolves `./a.js` to `./a.ts` if there is no `a.js`, as TypeScript does. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context);
  } catch (error) {
    const typed = specifier.replace(/\.([cm]?)js$/, ".$1ts");
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND" || typed === specifier) throw error;
    if (!TYPESCRIPT.test(context.parentURL ?? "")) throw error;
    return next(typed, context);
  }
};

/** Loads files in TypeScript as modules, and `.cts` as CommonJS. */
export const load: LoadHook = async (url, context, next) => {
  if (!url.startsWith("file:") || !TYPESCRIPT.test(url)) return next(url, context);
  const file = fileURLToPath(url);
  const source = await withoutTypes(await readFile(file, "utf8"), path.basename(file));
  return { format: file.endsWith(".cts") ? "commonjs" : "module", source, shortCircuit: true };
};
