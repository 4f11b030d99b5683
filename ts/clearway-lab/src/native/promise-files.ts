// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the files that the native scenarios of profile `promises` measure: hand-written peers, and a plugin of the repository's
// tests.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { packageRoot } from "../machine/package-root.js";

export type NativeFiles =
  | { files: { bare: string; plugin: string }; why?: undefined }
  | { files?: undefined; why: string };

export interface CompiledFiles {
  /** Compiles the files on the first call, for about a second, and returns them. If it cannot, returns `why` and what to do. */
  get(): NativeFiles;
  /** Removes the files. */
  remove(): void;
}

export function promiseFiles(): CompiledFiles {
  let folder: string | undefined;
  let compiled: NativeFiles | undefined;
  return {
    get() {
      folder ??= mkdtempSync(path.join(tmpdir(), "clearway-lab-promises-"));
      compiled ??= compileInto(folder);
      return compiled;
    },
    remove() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function compileInto(folder: string): NativeFiles {
  const repository = path.join(packageRoot(), "../..");
  const plugin = path.join(repository, "ts/clearway-native/test/fixtures/probe.c");
  if (!existsSync(plugin))
    return { why: "its plugin is only in a clone of Clearway's repository: run make bench there" };
  if (!existsSync(path.join(repository, "ts/clearway-native/dist/clearway.node")))
    return { why: "the addon of clearway-native is not built: install Rust, then run make bench again" };
  const headers = createRequire(import.meta.url)("node-api-headers") as { include_dir: string };
  const sources = [
    {
      source: path.join(packageRoot(), "native/promises.c"),
      file: path.join(folder, "bare.node"),
      include: headers.include_dir,
    },
    { source: plugin, file: path.join(folder, "probe.so"), include: path.join(repository, "native/include") },
  ];
  const compiler = process.env["CC"] || "cc";
  for (const { source, file, include } of sources) {
    const flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I", include];
    const { error, status, stderr } = spawnSync(compiler, [...flags, source, "-o", file, "-lpthread"], {
      encoding: "utf8",
    });
    if (error !== undefined)
      return { why: "no C compiler: install one (Debian: apt-get install gcc) or set CC to its path" };
    if (status !== 0)
      return { why: `${compiler} could not compile ${path.basename(source)}: ${stderr.trim().split("\n")[0]}` };
  }
  return { files: { bare: sources[0]!.file, plugin: sources[1]!.file } };
}
