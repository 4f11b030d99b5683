// SPDX-License-Identifier: MIT OR Apache-2.0
// Hooks of Node's module loader, in the process of a measured script in TypeScript, if esbuild is installed.
import { readFile } from "node:fs/promises";
import type { LoadHook, ResolveHook } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { TYPESCRIPT, withoutTypes } from "./typescript.js";

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
