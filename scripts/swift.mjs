// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/swift.mjs VERB`: runs Swift in swift/. Finds a Swift of this machine, or the one that `scripts/setup.sh swift` installs. If
// there is none, prints how to add one and exits with status 127. The verbs are at the end of this file.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isProgram } from "./problems.mjs";
import { root } from "./sources.mjs";

export const folder = join(root, "swift");
const scratch = process.env.CLEARWAY_SWIFT_SCRATCH ?? join(folder, ".build");

/** The oldest Swift that can build the package. */
const oldest = 6;

/** Instructions for a machine without Swift. */
export const missing =
  "Swift 6.0 or newer is missing. Add it with: scripts/setup.sh swift (Debian and derivatives on x86_64), or from https://swift.org/install, and set SWIFT to its program `swift`";

/** The folders in which `scripts/setup.sh swift` installs: the first one that the user may write to. */
export const homes = [
  ...(process.env.CLEARWAY_SWIFT_HOME ? [process.env.CLEARWAY_SWIFT_HOME] : []),
  "/opt/clearway-swift",
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "clearway-swift"),
];

/** Returns the version of a program `swift`, or undefined if it does not run or is too old. */
function versionOf(program) {
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  const version = status === 0 ? /Swift version (\d+[\d.]*)/.exec(stdout)?.[1] : undefined;
  return version === undefined || Number.parseInt(version, 10) < oldest ? undefined : version;
}

let found;
/**
 * Returns `{ swift, version, own }`: the program, its version, and the folder if `scripts/setup.sh swift` installed it. Searches SWIFT, the
 * PATH, and then `homes`. Returns undefined without a Swift of version 6 or newer.
 */
export function toolchain() {
  if (found !== undefined) return found ?? undefined;
  const places = [
    ...[process.env.SWIFT, "swift"].filter(Boolean).map((swift) => ({ swift })),
    ...homes.filter((home) => existsSync(join(home, "done"))).map((own) => ({ swift: join(own, "bin/swift"), own })),
  ];
  for (const place of places) {
    const version = versionOf(place.swift);
    if (version === undefined) continue;
    found = { ...place, version };
    return found;
  }
  found = null;
  return undefined;
}

/** Runs `swift VERB ARGUMENTS` in swift/ and returns its exit status. */
function swift(verb, args, { stdio = "inherit", env = process.env } = {}) {
  const tools = toolchain();
  if (tools === undefined) {
    console.error(missing);
    return 127;
  }
  const { status, error } = spawnSync(tools.swift, [verb, ...args], { cwd: folder, stdio, env });
  if (error) throw error;
  return status ?? 1;
}

// SwiftPM's own sandbox needs rights that a container may not have. The package runs no plugins.
const common = ["--disable-sandbox", "--package-path", folder];
const debug = [...common, "--scratch-path", scratch];
const release = [...common, "--scratch-path", join(scratch, "products"), "-c", "release", "--static-swift-stdlib"];
const thread = [...common, "--scratch-path", join(scratch, "thread"), "--sanitize", "thread"];

const glibc = () => Number.parseFloat(process.report?.getReport().header.glibcVersionRuntime ?? "");
const writtenMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Returns the linker's options for a program that runs on this system's own C library. The Swift that set-up installs is built for glibc
 * 2.38 or newer. On an older system, compiles swift/compat with the system's own compiler. Returns undefined without a compiler.
 */
function compatible() {
  if (toolchain()?.own === undefined || !(glibc() < 2.38)) return [];
  const [source, object] = [join(folder, "compat/glibc-2.36.c"), join(scratch, "glibc-2.36.o")];
  if (writtenMs(object) < writtenMs(source)) {
    mkdirSync(scratch, { recursive: true });
    const { status } = spawnSync("cc", ["-O2", "-c", source, "-o", object], { stdio: ["ignore", 2, 2] });
    if (status !== 0) return undefined;
  }
  return ["-Xlinker", object];
}

/** Returns the path of a product that {@link build} has made. It runs without Swift. */
export function product(name) {
  return join(scratch, "products/release", name);
}

/**
 * Returns the command, as a list, of a program that {@link compile} has compiled, or undefined if it is missing. The Swift that set-up installs
 * has the dynamic libraries that the program needs, and a newer C library than the system may have.
 */
export function program(name) {
  const path = join(scratch, "debug", name);
  const { own } = toolchain() ?? {};
  if (!existsSync(path)) return undefined;
  return own === undefined ? [path] : [join(own, "bin/swift-in"), path];
}

/** Builds the products with optimisation for this system, or only those that are named. Returns the exit status. Writes to stderr only. */
export function build(...names) {
  const options = toolchain() === undefined ? [] : compatible();
  if (options === undefined) {
    console.error("swift: a C compiler is missing. Debian: apt-get install build-essential");
    return 127;
  }
  for (const name of names.length > 0 ? names : [undefined]) {
    const only = name === undefined ? [] : ["--product", name];
    const status = swift("build", [...release, ...options, ...only], { stdio: ["ignore", 2, 2] });
    if (status !== 0) return status;
  }
  return 0;
}

/**
 * Compiles all targets but the tests, without optimisation. With `--build-tests`, compiles the tests, too; with `--product NAME`, only that
 * product. Returns the exit status. Writes to stderr only.
 */
export function compile(...options) {
  return swift("build", [...debug, ...options], { stdio: ["ignore", 2, 2] });
}

/** Formats the sources, or reports with `lint` what is not as swift-format writes it. */
function format(...args) {
  const mode = args.includes("--check") ? ["lint", "--strict"] : ["format", "--in-place"];
  const places = ["Package.swift", "Sources", "Tests", "Examples"];
  return swift("format", [...mode, "--configuration", ".swift-format", "--recursive", "--parallel", ...places]);
}

/** Runs the tests. Prints a line that `excerpt.mjs` reads. Arguments go to `swift test`. */
function test(options, env, args) {
  const tools = toolchain();
  if (tools === undefined) {
    console.error(missing);
    return 127;
  }
  const command = ["test", ...options, "--disable-xctest", ...args];
  const { status, stdout, error } = spawnSync(tools.swift, command, {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, ...env },
  });
  if (error) throw error;
  process.stdout.write(stdout);
  const [, ran, verdict, issues] =
    /Test run with (\d+) tests? (passed|failed).*?(?:with (\d+) issue)?/.exec(stdout) ?? [];
  if (ran !== undefined) {
    const failed = verdict === "failed" ? new Set(stdout.match(/^. Test .* failed after.*$/gm) ?? [issues]).size : 0;
    console.log(`swift ${tools.version}: ${Number(ran) - failed} passed, ${failed} failed`);
  }
  return status ?? 1;
}

/** Compiles a program, and runs it with this process's standard streams. */
function run(name, ...args) {
  const status = compile("--product", name);
  if (status !== 0) {
    process.exitCode = status;
    return;
  }
  const [path, ...before] = program(name);
  spawn(path, [...before, ...args], { stdio: "inherit" }).on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
}

const verbs = {
  build: (...names) => build(...names),
  compile: () => compile("--build-tests"),
  test: (...args) => test(debug, {}, args),
  "test-thread": (...args) => test(thread, { TSAN_OPTIONS: "halt_on_error=1" }, args),
  format: () => format(),
  "check-format": () => format("--check"),
  run,
  version: () => {
    const tools = toolchain();
    console.log(tools === undefined ? missing : `Swift ${tools.version}: ${tools.swift}`);
    return tools === undefined ? 127 : 0;
  },
};

if (isProgram(import.meta)) {
  const [verb, ...rest] = process.argv.slice(2);
  if (!Object.hasOwn(verbs, verb ?? "")) {
    console.error(`swift: unknown verb: ${verb} (${Object.keys(verbs).join(", ")})`);
    process.exitCode = 2;
  } else {
    const status = verbs[verb](...rest);
    if (status !== undefined) process.exitCode = status;
  }
}
