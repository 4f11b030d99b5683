// SPDX-License-Identifier: MIT OR Apache-2.0
// Removes the types of a measured script with esbuild. Without esbuild, Node 22.18 and newer do that, with limits: an import must name the .ts
// file, and the package may not be one of CommonJS.
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
