// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/jvm.mjs publish FOLDER [javadoc]`: writes the artifacts of the JVM's modules into a folder that is a Maven repository. With
// `javadoc`, also makes the javadoc jars.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { asTheyStand, compile } from "./jvm-classes.mjs";
import { folder, hasForeign, jdks, maven } from "./maven.mjs";
import { libclearway } from "./native.mjs";
import { root } from "./sources.mjs";

const native = ["native", "native-coroutines"];

/** Returns the modules that are published on a machine with these JDKs: all but those that skip Maven's goal `deploy`. */
export function published(found = jdks()) {
  const pom = (name) => join(folder, name, "pom.xml");
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(pom(entry.name)))
    .map(({ name }) => name)
    .filter((name) => !/<maven\.deploy\.skip>true</.test(readFileSync(pom(name), "utf8")))
    .filter((name) => hasForeign(found) || !native.includes(name));
}

/** The classifier of this machine's libclearway, in the form that the Maven plugin `os-maven-plugin` detects. */
export function platform() {
  const systems = { darwin: "osx", win32: "windows" };
  const architectures = { x64: "x86_64", arm64: "aarch_64" };
  return `${systems[process.platform] ?? process.platform}-${architectures[process.arch] ?? process.arch}`;
}

/** Copies libclearway to where its artifact is packed. Returns the options of Maven; none if the library was not built. */
function stageLibrary() {
  const staged = join(folder, "native/target/libclearway");
  rmSync(staged, { recursive: true, force: true });
  if (!existsSync(libclearway)) {
    console.error("jvm: libclearway was not built, so its artifact is left out: make native");
    return [];
  }
  const inside = join(staged, "META-INF");
  mkdirSync(join(inside, "clearway", platform()), { recursive: true });
  cpSync(libclearway, join(inside, "clearway", platform(), libclearway.split("/").at(-1)));
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(root, licence), join(inside, licence));
  return [`-Dlibclearway.platform=${platform()}`];
}

/** Publishes to a folder. Returns Maven's exit status. The user's own Maven repository gets metadata, but no artifact. */
export function publish(target, javadoc) {
  if (!target || (javadoc !== undefined && javadoc !== "javadoc")) {
    console.error("jvm: publish FOLDER [javadoc]");
    return 2;
  }
  const found = jdks();
  const compiled = compile(found);
  if (compiled !== 0) return compiled;
  const profiles = javadoc ? "-Ppublish,javadoc" : "-Ppublish";
  const modules = published(found).map((name) => `:clearway-${name}`);
  const repository = `-DaltDeploymentRepository=local::${pathToFileURL(resolve(target))}`;
  const options = ["-DskipTests", "-Dmaven.install.skip=true", repository, ...stageLibrary(), ...asTheyStand];
  return maven(["deploy", profiles, "-pl", modules.join(","), ...options], found);
}
