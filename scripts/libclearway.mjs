// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds libclearway for this machine and for other platforms, and finds the builds that this clone has. Checks that each one is what its folder
// says, so that no artifact has another platform's library.
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { missing, native, withoutFolders } from "./cargo.mjs";
import { libclearway } from "./native.mjs";
import { root } from "./sources.mjs";

/**
 * Each platform of the JVM's artifacts, in the form that the Maven plugin `os-maven-plugin` detects, with Cargo's target and the file. `cross`
 * has the linker with which Linux builds for the other kind of processor, and Debian's package of that linker.
 */
const platforms = {
  "linux-x86_64": {
    target: "x86_64-unknown-linux-gnu",
    file: "libclearway.so",
    cross: { linker: "x86_64-linux-gnu-gcc", debian: "gcc-x86-64-linux-gnu" },
  },
  "linux-aarch_64": {
    target: "aarch64-unknown-linux-gnu",
    file: "libclearway.so",
    cross: { linker: "aarch64-linux-gnu-gcc", debian: "gcc-aarch64-linux-gnu" },
  },
  "osx-x86_64": { target: "x86_64-apple-darwin", file: "libclearway.dylib" },
  "osx-aarch_64": { target: "aarch64-apple-darwin", file: "libclearway.dylib" },
  "windows-x86_64": { target: "x86_64-pc-windows-msvc", file: "clearway.dll" },
};

// The numbers of processors in the headers of ELF, Mach-O and PE files.
const elf = { 62: "linux-x86_64", 183: "linux-aarch_64" };
const machO = { 16777223: "osx-x86_64", 16777228: "osx-aarch_64" };
const pe = { 34404: "windows-x86_64" };

/** Returns the platform of a shared library by its first bytes, or undefined for a file of another kind or processor. */
export function platformOf(bytes) {
  const has = (size) => bytes.length >= size;
  if (has(20) && bytes.readUInt32BE(0) === 0x7f454c46)
    return bytes[4] === 2 && bytes[5] === 1 ? elf[bytes.readUInt16LE(18)] : undefined;
  if (has(8) && bytes.readUInt32LE(0) === 0xfeedfacf) return machO[bytes.readUInt32LE(4)];
  if (has(64) && bytes.readUInt16LE(0) === 0x5a4d) {
    const at = bytes.readUInt32LE(60);
    return has(at + 6) && bytes.readUInt32LE(at) === 0x4550 ? pe[bytes.readUInt16LE(at + 4)] : undefined;
  }
  return undefined;
}

/** The platform of this machine. It may be none of {@link platforms}. */
export function platform() {
  const systems = { darwin: "osx", win32: "windows" };
  const architectures = { x64: "x86_64", arm64: "aarch_64" };
  return `${systems[process.platform] ?? process.platform}-${architectures[process.arch] ?? process.arch}`;
}

/** Returns the first bytes of a file. The headers above are in them. */
function headOf(path) {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(4096);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/**
 * Returns `{ platform, path, file }` for each library that was built: `cargo build --release -p clearway-abi` for this machine, and the
 * same with `--target TARGET` for another platform. `built` is Cargo's target folder, and `own` is this machine's library. Throws an Error
 * for a file that is not a library of its platform.
 */
export function libraries({ built = join(root, "native/target"), own = libclearway } = {}) {
  const found = [];
  for (const [name, { target, file }] of Object.entries(platforms)) {
    const crossed = join(built, target, "release", file);
    const path = name === platform() && existsSync(own) ? own : crossed;
    if (!existsSync(path)) continue;
    const is = platformOf(headOf(path));
    if (is !== name) throw new Error(`${path} must be a library for ${name}: platform=${is ?? "unknown"}`);
    found.push({ platform: name, path, file });
  }
  return found;
}

/** Where {@link buildLibraries} builds: apart from the builds for development, which keep their debug information. */
const released = join(native, "target/released");

/** Returns what {@link buildLibraries} has built, like {@link libraries}. */
export const releasedLibraries = () => libraries({ built: released, own: "" });

const succeeds = (program, ...args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Returns what this machine needs to build for another platform, and the command that adds it. Returns undefined if nothing is missing. */
function crossNeeds({ target, cross }) {
  const { status, stdout } = spawnSync("rustc", ["--print", "target-libdir", "--target", target], { encoding: "utf8" });
  if (status !== 0) return missing;
  if (!existsSync(stdout.trim()))
    return `Rust's library for ${target} is missing. Add it with: rustup target add ${target}`;
  if (!succeeds(cross.linker, "--version"))
    return `${cross.linker} is missing. Add it with: apt-get install ${cross.debian}`;
  return undefined;
}

/**
 * Builds libclearway for this machine and, on Linux, for the other kind of processor if its tools are installed. The files have no debug
 * information, and name no folder of this machine. Returns `[{ platform, missing }]` for the platforms that it left out. Throws an Error with
 * Cargo's output if a build fails.
 */
export function buildLibraries() {
  const leftOut = [];
  for (const [name, each] of Object.entries(platforms)) {
    const isOwn = name === platform();
    if (!isOwn && !(each.cross && process.platform === "linux")) continue;
    const needed = isOwn ? (succeeds("cargo", "--version") ? undefined : missing) : crossNeeds(each);
    if (needed !== undefined) {
      leftOut.push({ platform: name, missing: needed });
      continue;
    }
    const args = ["build", "-q", "--release", "--locked", "-p", "clearway-abi", "--target", each.target];
    const linker = `CARGO_TARGET_${each.target.toUpperCase().replaceAll("-", "_")}_LINKER`;
    const env = {
      ...process.env,
      CARGO_TARGET_DIR: released,
      CARGO_ENCODED_RUSTFLAGS: withoutFolders().join("\u001f"),
      CARGO_PROFILE_RELEASE_STRIP: "debuginfo",
      ...(!isOwn && { [linker]: each.cross.linker }),
    };
    const { status, stderr } = spawnSync("cargo", args, { cwd: native, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`cargo ${args.join(" ")} failed\n${stderr}`);
    const file = join(released, each.target, "release", each.file);
    if (readFileSync(file).includes(root)) throw new Error(`${file} names a folder of this machine: ${root}`);
  }
  return leftOut;
}
