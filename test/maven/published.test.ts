// SPDX-License-Identifier: MIT OR Apache-2.0
// Publishes the JVM's modules to a folder, and uses them from Maven projects outside the repository: the examples of docs/jvm.md.
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { platform, published } from "../../scripts/jvm-publish.mjs";
import { chosen, foreignMin, jdks } from "../../scripts/maven.mjs";
import { libclearway } from "../../scripts/native.mjs";
import { current } from "../../scripts/release/versions.mjs";
import { root, runProgram } from "../packaging/clean-folder.js";
import { makeLocalRepository } from "./local-repository.js";

const found = jdks();
const { builds } = chosen(found);
const newest = Math.max(0, ...found.keys());
const group = "io.github.OWNER";
const version = current();

describe.skipIf(builds === undefined)("the published artifacts of the JVM", () => {
  let folder: string;
  const repository = () => join(folder, "repository");
  const local = () => join(folder, "local");
  const artifact = (name: string, ending: string) =>
    join(repository(), group.replaceAll(".", "/"), name, version, `${name}-${version}${ending}`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "clearway-maven-"));
    await runProgram(root, process.execPath, "scripts/jvm.mjs", "publish", repository());
    await makeLocalRepository(local(), group);
  }, 900_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Copies an example to an empty folder. Returns a function that runs one of its classes, with Maven and the JDK `release`. */
  async function project(example: string, release: number) {
    const copy = join(folder, example);
    await cp(join(root, "examples", example), copy, { recursive: true });
    const home = found.get(release) ?? "";
    const run = async (main: string) => {
      const output = await runProgram(
        copy,
        "env",
        `JAVA_HOME=${home}`,
        `PATH=${join(home, "bin")}:${process.env.PATH}`,
        "mvn",
        ...["-q", "-B", "--no-transfer-progress", "-Dstyle.color=never", `-Dmaven.repo.local=${local()}`],
        // Otherwise the compiler's process would live on for hours.
        "-Dkotlin.compiler.daemon=false",
        ...[`-Dclearway.repository=${pathToFileURL(repository())}`, `-Dplatform=${platform()}`],
        ...["compile", "exec:exec", `-Dmain=${main}`],
      );
      // Debian's mvn resets the terminal's colours even without a terminal.
      return stripVTControlCharacters(output);
    };
    return { copy, run };
  }

  test("every module has a pom without properties, a jar with a module name, and its sources", async () => {
    const names = new Set<string>();
    const jar = join(found.get(builds ?? 0) ?? "", "bin/jar");
    for (const module of published(found)) {
      const name = `clearway-${module}`;
      const pom = await readFile(artifact(name, ".pom"), "utf8");
      expect(pom, name).not.toContain("${");
      expect(pom, name).toContain(`<groupId>${group}</groupId>`);
      expect(pom, name).toMatch(/<licenses>[\s\S]*<scm\b/);
      await runProgram(folder, jar, "--extract", "--file", artifact(name, ".jar"), "META-INF/MANIFEST.MF");
      const manifest = await readFile(join(folder, "META-INF/MANIFEST.MF"), "utf8");
      names.add(/^Automatic-Module-Name: (\S+)/m.exec(manifest)?.[1] ?? `${name} has none`);
      const sources = await runProgram(folder, jar, "--list", "--file", artifact(name, "-sources.jar"));
      expect(sources, name).toMatch(/clearway\/.*\.kt$/m);
    }
    expect(names.size).toBe(published(found).length);
    expect([...names].filter((name) => !/^clearway(\.\w+)+$/.test(name))).toEqual([]);
    for (const own of ["lab-jvm", "lab-foreign", "stress", "api", "examples"])
      expect(existsSync(artifact(`clearway-${own}`, ".pom")), own).toBe(false);
  });

  test("a Maven project in Java and Kotlin uses a channel to another process", async () => {
    const { run } = await project("jvm-channel", builds ?? 0);
    const expected = "level: 21.5\nchanged: 21.5\nchanged: 24.0\nchanged: 31.0\n";
    expect(await run("App")).toBe(expected);
    expect(await run("KotlinAppKt")).toBe(expected);
  }, 600_000);

  test("a Maven project in Java and Kotlin uses the executor", async () => {
    const { run } = await project("jvm-executor", builds ?? 0);
    expect(await run("App")).toBe("small: [a-small.png, b-small.png]\nfailed: notes.txt\n");
    const small = "[a-small.png, b-small.png]";
    expect(await run("KotlinAppKt")).toBe(`small: ${small}\none by one: ${small}\n`);
  }, 600_000);

  test.skipIf(newest < foreignMin || !existsSync(libclearway))(
    "a Maven project in Java and Kotlin uses a native plugin without a build of libclearway",
    async () => {
      const { copy, run } = await project("jvm-plugin", newest);
      const include = join(root, "native/include");
      await runProgram(copy, "cc", "-shared", "-fPIC", `-I${include}`, "shout.c", "-o", "libshout.so");
      expect(await run("App")).toBe("HELLO FROM JAVA\n");
      expect(await run("KotlinAppKt")).toBe("HELLO FROM KOTLIN\n");
    },
    600_000,
  );

  test("a Java program without a build tool uses the jars", async () => {
    const kotlin = join(local(), "org/jetbrains/kotlin/kotlin-stdlib/2.2.21/kotlin-stdlib-2.2.21.jar");
    const java = join(found.get(builds ?? 0) ?? "", "bin/java");
    const program = join(folder, "program");
    await mkdir(program);
    await writeFile(
      join(program, "Codec.java"),
      `import clearway.channel.codec.Codecs;
       class Codec {
         public static void main(String[] args) {
           System.out.println(Codecs.STANDARD.decode(Codecs.STANDARD.encode(java.util.List.of(1, "two"))));
         }
       }`,
    );
    const path = [artifact("clearway-channel", ".jar"), kotlin].join(":");
    expect(await runProgram(program, java, "-cp", path, "Codec.java")).toBe("[1, two]\n");
  });
});
