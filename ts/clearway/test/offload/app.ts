// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds small apps with the plugin and runs them, because the plugin's output matters only by what it does.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Offload } from "clearway/offload";
import clearway from "clearway-build/esbuild";
import { type BuildFailure, type BuildOptions, build, type Message } from "esbuild";
import { onTestFinished } from "vitest";

// Node itself, instead of Vite, loads modules in folders of this name: see vitest.config.ts.
const parent = fileURLToPath(new URL("../fixtures/built", import.meta.url));

/** Writes source files into a folder that ends with the test. Returns the folder. */
export function sources(files: Readonly<Record<string, string>>): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "partial-offload-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Builds `main` of the sources for Node. Returns the URL of the built module. */
export async function built(folder: string, main = "main.ts", options: BuildOptions = {}): Promise<string> {
  await build({
    absWorkingDir: folder,
    entryPoints: [join(folder, main)],
    outdir: join(folder, "dist"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "silent",
    plugins: [clearway()],
    ...options,
  });
  return pathToFileURL(join(folder, "dist", main.replace(/\.\w+$/, ".mjs"))).href;
}

/** Builds an app and runs it. Returns what its `main.ts` exports as default, awaited. */
export async function run(main: string, others: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const url = await built(sources({ "main.ts": `import { offload } from "clearway/offload";\n${main}`, ...others }));
  const { default: result } = (await import(/* @vite-ignore */ url)) as { default: unknown };
  return typeof result === "function" ? (result as () => unknown)() : result;
}

/** Returns the `offload` that the built apps import. Vite gives the tests another copy of it. */
export async function offloadOfApps(): Promise<Offload> {
  const folder = mkdtempSync(join(parent, "partial-offload-"));
  try {
    writeFileSync(join(folder, "own.mjs"), 'export { offload } from "clearway/offload";\n');
    return (await import(/* @vite-ignore */ pathToFileURL(join(folder, "own.mjs")).href)).offload;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds an app that is refused. Returns the build's errors. */
export async function refusals(main: string, name = "main.ts"): Promise<Message[]> {
  const folder = sources({ [name]: main });
  return built(folder, name).then(
    () => {
      throw new Error("it was built");
    },
    ({ errors }: BuildFailure) => errors,
  );
}
