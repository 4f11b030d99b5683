// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the file of the addon. The packages `clearway-native-PLATFORM` have prebuilt addons, and npm installs the one for the system. The
// command `clearway-native build` writes an addon into this package.
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { NativeError } from "./error.js";

/** Instructions for a system without a prebuilt addon. */
export const fromSource =
  "To build the addon from source, install Rust 1.88 or newer (https://rustup.rs) and a C++ compiler, then run: npx clearway-native build";

/** Length of the part of a program's file that names its dynamic loader, in bytes. Linkers put the name into the first 1,024 bytes. */
const headBytes = 4096;

/** Returns the start of the running program's file. Returns an empty text if it cannot be read. */
function programHead(): string {
  try {
    const file = openSync(process.execPath, "r");
    try {
      const head = Buffer.alloc(headBytes);
      return head.toString("latin1", 0, readSync(file, head, 0, headBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

/** The facts about a process that decide which addon it can load. `head` is the start of the program's file. */
export interface System {
  readonly platform: string;
  readonly arch: string;
  readonly head: string;
}

/**
 * Returns the names of the packages whose addon may load in a process, without installed packages in mind. On Linux, the dynamic loader
 * says which C library the program uses. If its name was not found, both C libraries are possible.
 */
export function packageNames({ platform, arch, head }: System): string[] {
  const name = `clearway-native-${platform}-${arch}`;
  if (platform !== "linux") return [name];
  if (head.includes("/ld-musl-")) return [`${name}-musl`];
  if (head.includes("/ld-linux")) return [`${name}-gnu`];
  return [`${name}-gnu`, `${name}-musl`];
}

/** Returns the packages with prebuilt addons that this version of clearway-native has, with their versions. In a clone it has none. */
function prebuilt(): Record<string, string> {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { optionalDependencies?: Record<string, string> }).optionalDependencies ?? {};
}

/** Returns why there is no addon, and what to do. `names` are the packages that may have it, and `known` those that exist. */
export function whyMissing(names: readonly string[], known: Readonly<Record<string, string>>): string {
  const name = names.find((each) => Object.hasOwn(known, each));
  if (name === undefined) {
    const others = Object.keys(known).map((each) => each.replace("clearway-native-", ""));
    const list = others.length > 0 ? `; there is one for ${others.join(", ")}` : "";
    return `there is no prebuilt addon for this system (${names.join(" or ").replaceAll("clearway-native-", "")})${list}. ${fromSource}`;
  }
  return (
    `the package ${name} is not installed. npm leaves it out with --omit=optional, and if node_modules or the lock file come from ` +
    `another system. Add it with: npm install ${name}@${known[name]}. ${fromSource}`
  );
}

/** Returns the path of the addon's file. Throws `addon-missing` if there is none, and says what to do. */
export function addonFile(): string {
  const named = process.env["CLEARWAY_NATIVE_ADDON"];
  if (named !== undefined && named !== "") {
    if (existsSync(named)) return named;
    throw new NativeError("addon-missing", `clearway-native: CLEARWAY_NATIVE_ADDON names no file: ${named}`);
  }
  const own = fileURLToPath(new URL("./clearway.node", import.meta.url));
  if (existsSync(own)) return own;
  const { resolve } = createRequire(import.meta.url);
  const names = packageNames({ platform: process.platform, arch: process.arch, head: programHead() });
  for (const name of names) {
    try {
      return resolve(name);
    } catch {
      // This package is not installed. The message below names it.
    }
  }
  throw new NativeError("addon-missing", `clearway-native: ${whyMissing(names, prebuilt())}`);
}
