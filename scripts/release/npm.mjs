// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of a release for npm: a tarball of every public package of the workspace, and one of each platform's prebuilt addon.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { licences, root } from "../sources.mjs";
import { published } from "../workspaces.mjs";
import { compile, crates, isOwn, needs, notices, targets } from "./addon.mjs";

const native = "clearway-native";

/** Runs a program. Returns its stdout. Throws an Error with its output if it fails. */
function run(program, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8", maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed\n${error?.message ?? stdout + stderr}`);
  return stdout;
}

/** Packs a folder as `npm publish` does. npm writes the same bytes for the same files. Returns the tarball's path. */
function pack(folder, out) {
  const args = ["pack", folder, "--json", "--silent", "--ignore-scripts", "--pack-destination", out];
  const [packed] = JSON.parse(run("npm", args, out));
  if (!packed) throw new Error(`npm packed nothing: ${folder}`);
  return join(out, packed.filename);
}

const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

/** Packs the package with the prebuilt addon `file` of a target. Returns the tarball's path. */
function packAddon({ target, file }, version, { engines, homepage, bugs, repository }, work, out) {
  const name = `${native}-${target.name}`;
  const folder = join(work, name);
  mkdirSync(folder, { recursive: true });
  cpSync(file, join(folder, "clearway.node"));
  for (const each of licences) cpSync(join(root, each), join(folder, each));
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), notices(crates(target)));
  writeFileSync(
    join(folder, "README.md"),
    `# ${name}\n\nThe addon of [${native}](https://www.npmjs.com/package/${native}) for ${target.os} on ${target.cpu} with ` +
      `${target.libc}. \`${native}\` installs it; you need not.\n`,
  );
  writeJson(join(folder, "package.json"), {
    name,
    version,
    description: `The addon of ${native} for ${target.os} on ${target.cpu} with ${target.libc}`,
    license: "MIT OR Apache-2.0",
    homepage,
    bugs,
    repository,
    engines,
    os: [target.os],
    cpu: [target.cpu],
    libc: [target.libc],
    main: "clearway.node",
    files: ["clearway.node", ...licences, "THIRD-PARTY-LICENSES.txt"],
  });
  return pack(folder, out);
}

/** Packs clearway-native with the names of the prebuilt addons in its manifest. A clone has none, because npm would look for them. */
function packNative(folder, prebuilt, version, work, out) {
  const tarball = pack(folder, work);
  const copy = join(work, "package");
  run("tar", ["-xzf", tarball, "-C", work], work);
  const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8"));
  const packages = prebuilt.map(({ target }) => [`${native}-${target.name}`, version]);
  writeJson(join(copy, "package.json"), { ...manifest, optionalDependencies: Object.fromEntries(packages) });
  return pack(copy, out);
}

/** Compiles the addons for the platforms whose toolchain is here. Prints what is left out. */
export function compiled(work) {
  return targets.flatMap((target) => {
    const missing = needs(target);
    if (missing === undefined) return [{ target, file: compile(target, work) }];
    console.error(`release: no prebuilt addon for ${target.name}: ${missing}`);
    return [];
  });
}

/** The addon that the build of the workspace made, for tests. It is for this machine, and has its debug information. */
export function built() {
  const file = join(root, "ts/clearway-native/dist/clearway.node");
  return existsSync(file) ? targets.filter(isOwn).map((target) => ({ target, file })) : [];
}

/** Writes all tarballs to `out`. `addons` returns the prebuilt addons, as `[{ target, file }]`. Returns the paths of the tarballs. */
export function packAll(out, version, addons = compiled) {
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "clearway-release-"));
  try {
    const packages = published();
    const unbuilt = packages.find(({ folder }) => !existsSync(join(root, folder, "dist")));
    if (unbuilt) throw new Error(`${unbuilt.folder} was not built: node scripts/build.mjs`);
    const prebuilt = addons(work);
    const { manifest } = packages.find(({ name }) => name === native);
    return [
      ...prebuilt.map((each) => packAddon(each, version, manifest, work, out)),
      ...packages.map(({ name, folder }) =>
        name === native ? packNative(join(root, folder), prebuilt, version, work, out) : pack(join(root, folder), out),
      ),
    ];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

export const part = {
  name: "npm",
  needs: () => undefined,
  build: async (out, version) => packAll(out, version),
};
