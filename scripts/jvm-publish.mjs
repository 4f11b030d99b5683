// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/jvm.mjs publish FOLDER [javadoc] [sbom] [sign]`: writes the artifacts of the JVM's modules into a folder that is a Maven
// repository. `javadoc` adds the javadoc jars, `sbom` adds lists of the dependencies, and `sign` adds signatures.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { asTheyStand, deleteStale } from "./jvm-classes.mjs";
import { libraries } from "./libclearway.mjs";
import { folder, hasForeign, jdks, maven } from "./maven.mjs";
import { root } from "./sources.mjs";

/** The words after FOLDER. Each is a profile of jvm/pom.xml. */
const extras = ["javadoc", "sbom", "sign"];

/** Returns the modules that are published on a machine with these JDKs: all but those that skip Maven's goal `deploy`. */
export function published(found = jdks()) {
  const pom = (name) => join(folder, name, "pom.xml");
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(pom(entry.name)))
    .map(({ name }) => name)
    .filter((name) => !/<maven\.deploy\.skip>true</.test(readFileSync(pom(name), "utf8")))
    .filter((name) => hasForeign(found) || name !== "native");
}

/** Returns a property of jvm/pom.xml, with the properties that it uses. */
function property(name) {
  const pom = readFileSync(join(folder, "pom.xml"), "utf8");
  const value = new RegExp(`<${name.replaceAll(".", "\\.")}>([^<]*)<`).exec(pom)?.[1] ?? "";
  return value.replace(/\$\{([^}]+)\}/g, (_, other) => property(other));
}

/** The version of all artifacts. */
export const version = () => property("revision");
/** The account that owns the repository and the group. It is a placeholder until the first release. */
export const owner = () => property("clearway.owner");
/** The group of all artifacts. */
export const group = () => property("clearway.group");

/** Copies each libclearway to where its artifact is packed. Returns the options of Maven; none if no library was built. */
function stageLibraries(found) {
  const staged = join(folder, "native/target/libclearway");
  rmSync(staged, { recursive: true, force: true });
  if (found.length === 0) {
    console.error("jvm: libclearway was not built, so its artifact is left out: make native");
    return [];
  }
  for (const { platform, path, file } of found) {
    const inside = join(staged, platform, "META-INF");
    mkdirSync(join(inside, "clearway", platform), { recursive: true });
    cpSync(path, join(inside, "clearway", platform, file));
    for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(root, licence), join(inside, licence));
  }
  return [`-Dlibclearway=${staged}`];
}

/** Returns Maven's options for the key that signs, or undefined if none is named. */
function signing() {
  const key = process.env.CLEARWAY_SIGN_KEY;
  if (!key) {
    console.error("jvm: sign needs a key: set CLEARWAY_SIGN_KEY to the fingerprint of one of: gpg --list-secret-keys");
    return undefined;
  }
  return [`-Dgpg.keyname=${key}`];
}

/** The times in the jars are those of the last commit, so that the same sources make the same jars. */
function timestamp() {
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  return status === 0 && /^\d+\s*$/.test(stdout) ? [`-Dproject.build.outputTimestamp=${stdout.trim()}`] : [];
}

/**
 * Publishes to a folder, with these builds of libclearway. Returns Maven's exit status. The user's own Maven repository gets metadata, but no
 * artifact.
 */
export function publish(target, words, built = libraries) {
  const unknown = words.find((word) => !extras.includes(word));
  if (!target || unknown !== undefined) {
    if (unknown !== undefined) console.error(`jvm: unknown word: ${unknown}`);
    console.error(`jvm: publish FOLDER ${extras.map((word) => `[${word}]`).join(" ")}`);
    return 2;
  }
  const key = words.includes("sign") ? signing() : [];
  if (key === undefined) return 2;
  const found = jdks();
  // Compiles what is published, unless its classes are current. It compiles no tests and checks nothing: `make test` does both.
  deleteStale(found);
  const profiles = `-P${["publish", ...words].join(",")}`;
  const modules = published(found).map((name) => `:clearway-${name}`);
  const repository = `-DaltDeploymentRepository=local::${pathToFileURL(resolve(target))}`;
  const options = [
    "-Dmaven.test.skip=true",
    "-Dmaven.install.skip=true",
    repository,
    ...stageLibraries(built()),
    ...asTheyStand,
  ];
  return maven(["deploy", profiles, "-pl", modules.join(","), ...options, ...key, ...timestamp()], found);
}
