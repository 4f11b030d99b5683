// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync, statSync } from "node:fs";
import * as module from "node:module";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

// The file `typescript-hooks.mjs`, which Node 20 loads on its thread of loaders.

/** Compiles the text of a TypeScript file to an ES module with an inline source map. */
type Transform = (text: string, path: string) => string;

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

/** A compiler that the app has installed. It can be sent to Node's thread of loaders. */
export interface Transformer {
  readonly name: string;
  /** The file that can load it: a package that the app has installed, or the app itself. */
  readonly from: string;
}

interface Output {
  readonly code: string;
  readonly map?: unknown;
}

const inlined = ({ code, map }: Output): string => {
  if (!map) return code;
  const json = typeof map === "string" ? map : JSON.stringify(map);
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(json).toString("base64")}\n`;
};

const isTsx = (path: string): boolean => path.endsWith("x");

// biome-ignore lint/suspicious/noExplicitAny: the packages belong to the app and may be missing
type Package = any;

// In order of preference: what loads and compiles fastest comes first.
const adapters: Readonly<Record<string, (found: Package) => Transform | false>> = {
  "rolldown/utils": ({ transformSync }) =>
    typeof transformSync === "function" &&
    ((text, path) => {
      const output = transformSync(path, text, { lang: isTsx(path) ? "tsx" : "ts", sourcemap: true });
      if (output.errors?.length > 0) throw new SyntaxError(output.errors.map(String).join("\n"));
      return inlined(output);
    }),
  esbuild:
    ({ transformSync }) =>
    (text, path) =>
      transformSync(text, {
        loader: isTsx(path) ? "tsx" : "ts",
        format: "esm",
        target: "node20",
        sourcefile: path,
        sourcemap: "inline",
      }).code,
  "@swc/core":
    ({ transformSync }) =>
    (text, path) =>
      transformSync(text, {
        filename: path,
        swcrc: false,
        configFile: false,
        isModule: true,
        sourceMaps: "inline",
        module: { type: "es6" },
        jsc: { target: "es2022", parser: { syntax: "typescript", tsx: isTsx(path), decorators: true } },
      }).code,
  // TypeScript 7 has no such function.
  typescript: ({ transpileModule, ModuleKind, ScriptTarget }) =>
    typeof transpileModule === "function" &&
    ((text, path) =>
      transpileModule(text, {
        fileName: path,
        compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2022, inlineSourceMap: true },
      }).outputText),
};

/** Loads a transformer. Returns undefined if it is missing, or if its version has not what is needed. Never throws. */
export function loadTransform({ name, from }: Transformer): Transform | undefined {
  try {
    return adapters[name]?.(createRequire(from)(name)) || undefined;
  } catch {
    return undefined;
  }
}

// Packages that bring a transformer. Package managers such as pnpm let only these packages load it.
const carriers = ["vitest", "vite", "tsx"];

function findTransformer(near: readonly string[]): { transformer: Transformer; transform: Transform } | undefined {
  const places = [...near];
  for (const carrier of carriers) {
    for (const place of [...places]) {
      try {
        places.push(createRequire(place).resolve(`${carrier}/package.json`));
      } catch {
        // It is not installed there.
      }
    }
  }
  for (const name of Object.keys(adapters)) {
    for (const from of places) {
      const transform = loadTransform({ name, from });
      if (transform) return { transformer: { name, from }, transform };
    }
  }
  return undefined;
}

/**
 * Compiles the TypeScript modules that this worker imports from now on, with a transformer of the app: rolldown or esbuild (Vite and Vitest
 * have one of them), SWC or TypeScript. Returns false if the app has none of them.
 */
export function useTransformer(near: readonly string[]): boolean {
  const found = findTransformer(near);
  if (!found) return false;
  process.setSourceMapsEnabled(true);
  // Newer versions of Node run hooks on this thread. Node 20 starts a thread for them.
  const { registerHooks } = module as { registerHooks?(hooks: object): unknown };
  if (registerHooks) registerHooks(hooksWith(found.transform));
  else module.register(new URL("./typescript-hooks.mjs", import.meta.url), { data: found.transformer });
  return true;
}

let hooks: Hooks | undefined;

/** Called by Node with the data of `module.register`. Loads the transformer, which the worker has found. */
export function initialize(transformer: Transformer): void {
  const transform = loadTransform(transformer);
  if (transform) hooks = hooksWith(transform);
}

export const resolve: Hooks["resolve"] = (specifier, context, next) =>
  hooks ? hooks.resolve(specifier, context, next) : next(specifier, context);

export const load: Hooks["load"] = (url, context, next) =>
  hooks ? hooks.load(url, context, next) : next(url, context);
