// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the prebuilt addons of clearway-native from the sources that its package has: for this machine, and for each other platform whose
// toolchain is installed.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { withoutFolders } from "../cargo.mjs";
import { licenceTexts } from "../notices.mjs";
import { root } from "../sources.mjs";

/** The manifest of the addon's sources in the built package. */
export const manifest = join(root, "ts/clearway-native/dist/addon/Cargo.toml");

/**
 * The platforms with prebuilt addons. `rust` is Cargo's name of the platform; `linker` and `cxx` are the compilers of Debian's package
 * `debian`. A native machine uses its own `cc`.
 */
export const targets = [
  {
    name: "linux-x64-gnu",
    rust: "x86_64-unknown-linux-gnu",
    os: "linux",
    cpu: "x64",
    libc: "glibc",
    linker: "x86_64-linux-gnu-gcc",
    cxx: "x86_64-linux-gnu-g++",
    debian: "g++-x86-64-linux-gnu",
  },
  {
    name: "linux-arm64-gnu",
    rust: "aarch64-unknown-linux-gnu",
    os: "linux",
    cpu: "arm64",
    libc: "glibc",
    linker: "aarch64-linux-gnu-gcc",
    cxx: "aarch64-linux-gnu-g++",
    debian: "g++-aarch64-linux-gnu",
  },
  // Debian's packages for musl have no C++ library. These addons are built without the file in C++.
  {
    name: "linux-x64-musl",
    rust: "x86_64-unknown-linux-musl",
    os: "linux",
    cpu: "x64",
    libc: "musl",
    linker: "x86_64-linux-musl-gcc",
    debian: "musl-tools",
  },
  {
    name: "linux-arm64-musl",
    rust: "aarch64-unknown-linux-musl",
    os: "linux",
    cpu: "arm64",
    libc: "musl",
    linker: "aarch64-linux-musl-gcc",
  },
];

const run = (program, args, options = {}) =>
  spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });

/** Returns whether this Node runs on the target's platform. */
export const isOwn = ({ os, cpu, libc }) =>
  process.platform === os && process.arch === cpu && libc === (hasGlibc() ? "glibc" : "musl");

const hasGlibc = () => process.report.getReport().header.glibcVersionRuntime !== undefined;

/** Returns what this machine needs to compile for a target. Returns undefined if nothing is missing. */
export function needs(target) {
  const { status, stdout } = run("rustc", ["--print", "target-libdir", "--target", target.rust]);
  if (status !== 0) return "Rust is missing: https://rustup.rs";
  if (!existsSync(stdout.trim()))
    return `Rust's library for ${target.rust} is missing: rustup target add ${target.rust}`;
  if (isOwn(target)) return run("cc", ["--version"]).status === 0 ? undefined : "a C compiler (cc) is missing";
  for (const program of [target.linker, target.cxx].filter(Boolean)) {
    if (run(program, ["--version"]).status === 0) continue;
    const how = target.debian ? `apt-get install ${target.debian}` : "no package of Debian has it";
    return `the compiler ${program} is missing: ${how}`;
  }
  return undefined;
}

/**
 * Returns the option that lets Debian's compiler for musl link to the unwinder, the library libgcc_s of the target. The compiler looks for it
 * only in musl's own folder. Systems with musl have the same library from the same source.
 */
function unwinder({ cpu }, work) {
  const machine = { x64: "x86_64", arm64: "aarch64" }[cpu];
  const library = [`/lib/${machine}-linux-gnu/libgcc_s.so.1`, `/usr/${machine}-linux-gnu/lib/libgcc_s.so.1`].find(
    existsSync,
  );
  if (library === undefined) return [];
  const folder = join(work, `unwinder-${cpu}`);
  mkdirSync(folder, { recursive: true });
  cpSync(realpathSync(library), join(folder, "libgcc_s.so"));
  return [`-Clink-arg=-L${folder}`];
}

/** Compiles the addon for a target, in the folder `work`. Returns the file. Throws an Error with the compiler's output if that fails. */
export function compile(target, work) {
  const key = target.rust.toUpperCase().replaceAll("-", "_");
  const own = isOwn(target);
  const rustFlags = [
    ...withoutFolders(dirname(manifest)),
    ...(target.libc === "musl" ? ["-Ctarget-feature=-crt-static", ...unwinder(target, work)] : []),
  ];
  const env = {
    ...process.env,
    CARGO_ENCODED_RUSTFLAGS: rustFlags.join("\u001f"),
    CARGO_PROFILE_RELEASE_STRIP: "debuginfo",
    ...(!own && { [`CARGO_TARGET_${key}_LINKER`]: target.linker }),
    // Without this setting, this machine's own compiler would be used.
    ...(!own && { [`CXX_${target.rust.replaceAll("-", "_")}`]: target.cxx ?? "no-compiler-for-c++" }),
  };
  const args = ["build", "--release", "--locked", "--quiet", "-p", "clearway-node", "--manifest-path", manifest];
  const { status, error, stderr } = run("cargo", [...args, "--target", target.rust, "--target-dir", work], { env });
  if (status !== 0)
    throw new Error(`cargo ${args.join(" ")} --target ${target.rust} failed\n${error?.message ?? stderr}`);
  const file = join(work, target.rust, "release/libclearway_node.so");
  if (readFileSync(file).includes(root))
    throw new Error(`the addon for ${target.name} names a folder of this machine: ${root}`);
  return file;
}

/**
 * Returns the crates in the addon for a target, sorted: `{ name, version, license, checksum, needs, folder }`. `needs` are `name@version`.
 * Crates that only build the addon are left out. Returns an empty list without Cargo. Throws an Error if Cargo refuses the sources.
 */
export function crates(target) {
  const args = ["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", target.rust];
  const { status, error, stdout, stderr } = run("cargo", [...args, "--manifest-path", manifest]);
  if (error?.code === "ENOENT") return [];
  if (status !== 0) throw new Error(`cargo ${args.join(" ")} failed\n${stderr}`);
  const { packages, resolve } = JSON.parse(stdout);
  const byId = new Map(packages.map((each) => [each.id, each]));
  const nodes = new Map(resolve.nodes.map((each) => [each.id, each]));
  const lock = readFileSync(join(dirname(manifest), "Cargo.lock"), "utf8");
  const found = new Map();
  const needed = (id) => nodes.get(id).deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kind === null));
  const visit = (id) => {
    if (found.has(id)) return;
    const { name, version, license, manifest_path } = byId.get(id);
    const block = new RegExp(`name = "${name}"\\nversion = "${version}"\\n(?:source.*\\n)?(?:checksum = "(.*)")?`).exec(
      lock,
    );
    const needs = needed(id).map(({ pkg }) => `${byId.get(pkg).name}@${byId.get(pkg).version}`);
    found.set(id, {
      name,
      version,
      license,
      checksum: block?.[1],
      needs: needs.sort(),
      folder: dirname(manifest_path),
    });
    for (const { pkg } of needed(id)) visit(pkg);
  };
  visit(packages.find(({ name }) => name === "clearway-node").id);
  return [...found.values()].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

/** Returns the licences of the crates of other authors in an addon, with their texts. Their authors ask that a copy has them. */
export function notices(all) {
  const texts = licenceTexts(all.filter(({ name }) => !name.startsWith("clearway-")));
  return `The addon contains code of these crates, and of Rust's standard library (MIT OR Apache-2.0).\n\n${texts}`;
}
