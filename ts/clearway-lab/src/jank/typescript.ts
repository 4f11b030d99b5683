// SPDX-License-Identifier: MIT OR Apache-2.0
// Removes the types of a script for a Node that cannot do so itself (older than 22.18).
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

/** Returns what is missing to run a file on this Node: undefined, or what to install. */
export function compilerMissing(file: string): string | undefined {
  return TYPESCRIPT.test(file) && !RUNS_TYPESCRIPT ? packagesMissing(["esbuild"]) : undefined;
}

/** Whether this Node runs TypeScript itself. It then keeps every line and column in its place. */
export const RUNS_TYPESCRIPT = Boolean((process.features as { typescript?: unknown }).typescript);
