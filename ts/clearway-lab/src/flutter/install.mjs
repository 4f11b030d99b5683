// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the installed Flutter app, and compiles native/flutter, the program that loads its engine.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** The environment variable with the folder of an unpacked Flutter app for Linux. The default is where set-up puts one. */
const VARIABLE = "CLEARWAY_FLUTTER";
const ENGINE = "lib/libflutter_linux_gtk.so";
const COMPILE_MS_MAX = 60_000;

/** How to install the app and what its engine needs. */
export const FLUTTER_INSTALL =
  "in a clone of Clearway's repository run scripts/setup.sh flutter, or set CLEARWAY_FLUTTER to a Flutter app (docs/lab/flutter.md)";

/**
 * Returns the app's folder, or the reason why there is none here and the remedy. `packageFolder` is the folder of the package clearway-lab.
 *
 * @param {string} packageFolder
 * @returns {{ folder: string, problem?: undefined } | { folder?: undefined, problem: string }}
 */
export function findFlutter(
  packageFolder,
  { platform = process.platform, arch = process.arch, env = process.env } = {},
) {
  if (platform !== "linux" || arch !== "x64")
    return {
      problem: `Flutter's engine is a program for Linux on x86_64, and this is ${platform} on ${arch}: run it there`,
    };
  const given = env[VARIABLE];
  const folder = given || path.join(packageFolder, "../../.cache/flutter/flet");
  if (existsSync(path.join(folder, ENGINE))) return { folder };
  if (given)
    return {
      problem: `${VARIABLE} names a folder without ${ENGINE}: ${VARIABLE}=${given}. Set it to a Flutter app for Linux, or unset it`,
    };
  return { problem: `Flutter's engine is not installed: ${FLUTTER_INSTALL}` };
}

/**
 * Compiles the program. Blocks for half a second. Returns its path, and a function that removes it, which may be called as soon as the
 * program runs; or the reason why it cannot be compiled.
 *
 * @param {string} packageFolder
 * @returns {{ program: string, remove(): void, problem?: undefined } | { problem: string }}
 */
export function compilePeer(packageFolder, compiler = process.env["CC"] || "cc") {
  const sources = path.join(packageFolder, "native/flutter");
  const folder = mkdtempSync(path.join(tmpdir(), "clearway-flutter-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const program = path.join(folder, "flutter-peer");
  const files = readdirSync(sources).flatMap((name) => (name.endsWith(".c") ? [path.join(sources, name)] : []));
  const { error, status, stderr } = spawnSync(compiler, ["-std=gnu11", "-O2", ...files, "-o", program, "-ldl"], {
    encoding: "utf8",
    timeout: COMPILE_MS_MAX,
  });
  if (error === undefined && status === 0) return { program, remove };
  remove();
  if (error !== undefined)
    return { problem: "no C compiler: install one (Debian: apt-get install gcc) or set CC to its path" };
  return { problem: `${compiler} could not compile native/flutter: ${stderr.trim().split("\n")[0]}` };
}

/** Returns the release of Dart in the app's engine, such as 3.6.2, or undefined. Reads the file, 15 MB. */
export function dartRelease(folder, engine = ENGINE) {
  const bytes = readFileSync(path.join(folder, engine));
  const at = bytes.indexOf(" (stable) (");
  return at < 0 ? undefined : /\d+\.\d+\.\d+$/.exec(bytes.toString("latin1", Math.max(0, at - 16), at))?.[0];
}
