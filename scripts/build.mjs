// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/build.mjs [clearway] [clearway-native] [clearway-nats] [clearway-lab] [--force]`: builds these packages, or all of them, in this order.
// Skips packages that are up to date, unless `--force` is given. Copies the licence texts into each, because npm packs what is in a folder.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { licences, paths, root } from "./sources.mjs";

const stamps = join(root, "node_modules/.cache/clearway");
mkdirSync(stamps, { recursive: true });

function fingerprint(folders, tools) {
  const hash = createHash("sha256").update(process.version).update(tools);
  const inputs = paths().filter(
    (path) =>
      path === "package-lock.json" ||
      path === "tsconfig.base.json" ||
      (folders.some((folder) => path === folder || path.startsWith(`${folder}/`)) &&
        !/\/test\/|\/api\.txt$|\.md$/.test(path)),
  );
  for (const path of inputs)
    hash
      .update(path)
      .update("\0")
      .update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

const asked = process.argv.slice(2).filter((word) => word !== "--force");

// The tests of `clearway/offload` use its build plugin.
const withPackage = { "clearway-build": "clearway" };

function build(name, folders, tools = "") {
  if (asked.length > 0 && !asked.includes(name) && !asked.includes(withPackage[name])) return;
  const folder = folders.at(-1);
  for (const text of licences) copyFileSync(join(root, text), join(root, folder, text));
  const stamp = join(stamps, `${name}.built`);
  const print = fingerprint(folders, tools);
  const built = existsSync(stamp) && existsSync(join(root, folder, "dist")) && readFileSync(stamp, "utf8") === print;
  if (built && !process.argv.includes("--force")) return;
  console.log(`build: ${name}`);
  const { status, error } = spawnSync(process.execPath, ["build.mjs"], { cwd: join(root, folder), stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) {
    console.error(`build: ${name} failed (${folder}/build.mjs, exit status ${status})`);
    process.exit(1);
  }
  writeFileSync(stamp, print);
}

build("clearway", ["ts/clearway"]);
build("clearway-build", ["ts/clearway-build"]);
// clearway-native is built again when Rust is installed, updated or removed.
const rust = spawnSync("cargo", ["--version"], { encoding: "utf8" }).stdout ?? "none";
const cargo = ["native/Cargo.toml", "native/Cargo.lock", "native/crates"];
build("clearway-native", [...cargo, "ts/clearway", "ts/clearway-native"], rust);
build("clearway-nats", ["ts/clearway", "ts/clearway-nats"]);
// Its bundle has the local server and the browsers' drivers from there.
build("clearway-lab", ["scripts", "ts/clearway", "ts/clearway-lab"]);
