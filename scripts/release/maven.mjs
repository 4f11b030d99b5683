// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of a release for the JVM: a folder that is a Maven repository, and the same as one file, which the portal of Maven Central takes. Set
// CLEARWAY_SIGN_KEY to the fingerprint of a key of GnuPG to sign the artifacts, as Maven Central requires.
import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { group, publish, version } from "../jvm-publish.mjs";
import { buildLibraries, releasedLibraries } from "../libclearway.mjs";
import { chosen, jdks, missing } from "../maven.mjs";
import { requireVersion, run } from "./archive.mjs";

/** Returns the paths of all files below a folder. */
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const hasMaven = () => {
  try {
    run("mvn", ["--version"]);
    return true;
  } catch {
    return false;
  }
};

function needs() {
  if (chosen().builds === undefined) return missing.jdk;
  return hasMaven() ? undefined : missing.maven;
}

export const part = {
  name: "maven",
  needs,
  async build(outDir, release) {
    requireVersion("jvm/pom.xml", version(), release);
    for (const { platform, missing: what } of buildLibraries())
      console.error(`maven: no libclearway for ${platform}: ${what}`);
    const repository = resolve(outDir);
    const signed = process.env.CLEARWAY_SIGN_KEY ? ["sign"] : [];
    if (publish(repository, ["javadoc", "sbom", ...signed], releasedLibraries) !== 0)
      throw new Error("Maven did not publish the JVM's modules");
    const own = join(repository, group().split(".")[0]);
    // The classes of the tests are for the modules of this repository only.
    for (const path of filesBelow(own)) if (/-tests\.jar(\.\w+)?$/.test(path)) rmSync(path);
    const artifacts = filesBelow(own);
    // The portal makes the metadata of a repository itself.
    const inside = artifacts.filter((path) => !path.includes("maven-metadata"));
    const bundle = join(repository, `clearway-maven-${release}.zip`);
    const names = inside.flatMap((path) => ["-C", repository, path.slice(repository.length + 1)]);
    const jar = join(jdks().get(chosen().builds), "bin/jar");
    run(jar, ["--create", "--no-manifest", "--file", bundle, ...names]);
    return [bundle, ...artifacts];
  },
};
