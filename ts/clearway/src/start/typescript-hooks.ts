// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Compiles the text of a TypeScript file to an ES module with an inline source map. */
export type Transform = (text: string, path: string) => string;

type Next<Context, Result> = (specifier: string, context: Context) => Result;

interface ResolveContext {
  readonly parentURL?: string | undefined;
}

interface Loaded {
  format: string;
  source: string;
  shortCircuit: true;
}

/** Node's hooks for imports. They work on this thread and on Node's thread of loaders, where `next` returns promises. */
export interface Hooks {
  resolve<Result>(specifier: string, context: ResolveContext, next: Next<ResolveContext, Result>): Result;
  load<Context, Result>(url: string, context: Context, next: Next<Context, Result>): Result | Loaded;
}

const inPackage = /[\\/]node_modules[\\/]/;

/** Returns hooks that find and compile the app's TypeScript modules. Packages are left to Node. */
export function hooksWith(transform: Transform): Hooks {
  return {
    resolve: (specifier, context, next) => next(typeScriptFor(specifier, context.parentURL) ?? specifier, context),
    load: (url, context, next) => {
      const path = fileOf(url);
      if (!path || !/\.m?ts$|\.tsx$/i.test(path)) return next(url, context);
      return { format: "module", source: transform(readFileSync(path, "utf8"), path), shortCircuit: true };
    },
  };
}

// Returns the URL of the file that TypeScript and test runners mean, if Node would not find it: `./a.js` and `./a` for a.ts, `./b` for
// b/index.ts.
function typeScriptFor(specifier: string, parent: string | undefined): string | undefined {
  if (!/^(\.\.?(\/|$)|file:)/.test(specifier) || !fileOf(parent)) return undefined;
  const url = new URL(specifier, parent);
  const path = fileOf(url.href);
  if (!path || isFile(path)) return undefined;
  const file = candidates(path).find(isFile);
  return file && pathToFileURL(file).href + url.search + url.hash;
}

function candidates(path: string): string[] {
  const [, stem, kind] = /^(.*)\.([cm]?)jsx?$/i.exec(path) ?? [];
  const compiled = stem === undefined ? [] : [`${stem}.${kind}ts`, `${stem}.tsx`];
  const endings = [".ts", ".tsx", ".mts", ".js", ".mjs", "/index.ts", "/index.tsx", "/index.js"];
  return [...compiled, ...endings.map((ending) => path + ending)];
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

// Returns the path of a file of the app.
function fileOf(url: string | undefined): string | undefined {
  if (!url?.startsWith("file:") || inPackage.test(url)) return undefined;
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
