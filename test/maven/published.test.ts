// SPDX-License-Identifier: MIT OR Apache-2.0
// Publishes the JVM's modules to a folder, and uses them outside the repository: in the Maven projects of docs/jvm.md and of a new plugin, and
// in Java programs without a build tool.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { group, published, version as versionOf } from "../../scripts/jvm-publish.mjs";
import { platform } from "../../scripts/libclearway.mjs";
import { chosen, foreignMin, jdks } from "../../scripts/maven.mjs";
import { libclearway, toolchains } from "../../scripts/native.mjs";
import { root, runProgram } from "../packaging/clean-folder.js";
import { makeLocalRepository } from "./local-repository.js";

const found = jdks();
const { builds } = chosen(found);
const newest = Math.max(0, ...found.keys());
const version = versionOf();
const hasNative = newest >= foreignMin && existsSync(libclearway);
const hasGnuPG = spawnSync("gpg", ["--version"]).status === 0;

// The crates from a registry are built as for the other plugins, so that Cargo finds most of them in the folder that all plugins share.
const cargoTarget = process.env["CARGO_TARGET_DIR"] ?? join(root, "native/target");
const cargoAs = [
  `CARGO_TARGET_DIR=${cargoTarget}`,
  "CARGO_PROFILE_RELEASE_LTO=thin",
  "CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4",
  "CARGO_PROFILE_RELEASE_DEBUG=line-tables-only",
];

describe.skipIf(builds === undefined)("the published artifacts of the JVM", () => {
  let folder: string;
  const repository = () => join(folder, "repository");
  const local = () => join(folder, "local");
  const gnupg = () => join(folder, "gnupg");
  const artifact = (name: string, ending: string) =>
    join(repository(), group().replaceAll(".", "/"), name, version, `${name}-${version}${ending}`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "clearway-maven-"));
    const key = hasGnuPG ? [`GNUPGHOME=${gnupg()}`, `CLEARWAY_SIGN_KEY=${await makeKey()}`] : [];
    const publish = [process.execPath, "scripts/jvm.mjs", "publish", repository(), ...(hasGnuPG ? ["sign"] : [])];
    await runProgram(root, "env", ...key, ...publish);
    await makeLocalRepository(local(), group());
  }, 900_000);
  afterAll(async () => {
    if (hasGnuPG) spawnSync("gpgconf", ["--homedir", gnupg(), "--kill", "all"]);
    await rm(folder, { recursive: true, force: true });
  });

  /** Makes a key without a passphrase in a folder of this test. Returns its fingerprint. */
  async function makeKey(): Promise<string> {
    await mkdir(gnupg(), { mode: 0o700 });
    const gpg = (...args: string[]) => runProgram(folder, "gpg", "--homedir", gnupg(), "--batch", "--quiet", ...args);
    await gpg("--passphrase", "", "--quick-generate-key", "test@localhost", "ed25519", "sign", "never");
    return /^fpr:+([0-9A-F]+):/m.exec(await gpg("--list-secret-keys", "--with-colons"))?.[1] ?? "";
  }

  /** Copies an example to an empty folder. Returns a function that runs one of its classes, with Maven and the JDK `release`. */
  async function project(example: string, release: number) {
    const copy = join(folder, example);
    await cp(join(root, "examples", example), copy, { recursive: true });
    return { copy, run: (main: string) => runMaven(copy, release, `-Dmain=${main}`, `-Dplatform=${platform()}`) };
  }

  /** Compiles and runs the Maven project in `copy` with the JDK `release`. Returns the program's output. */
  async function runMaven(copy: string, release: number, ...options: string[]): Promise<string> {
    const home = found.get(release) ?? "";
    const output = await runProgram(
      copy,
      "env",
      `JAVA_HOME=${home}`,
      `PATH=${join(home, "bin")}:${process.env["PATH"]}`,
      "mvn",
      ...["-q", "-B", "--no-transfer-progress", "-Dstyle.color=never", `-Dmaven.repo.local=${local()}`],
      // Otherwise the compiler's process would live on for hours.
      "-Dkotlin.compiler.daemon=false",
      `-Dclearway.repository=${pathToFileURL(repository())}`,
      ...["compile", "exec:exec", ...options],
    );
    // Debian's mvn resets the terminal's colours even without a terminal.
    return stripVTControlCharacters(output);
  }

  test("every module has a pom without properties, a jar with a module name, and its sources", async () => {
    const names = new Set<string>();
    const jar = join(found.get(builds ?? 0) ?? "", "bin/jar");
    for (const module of published(found)) {
      const name = `clearway-${module}`;
      const pom = await readFile(artifact(name, ".pom"), "utf8");
      expect(pom, name).not.toContain("${");
      expect(pom, name).toContain(`<groupId>${group()}</groupId>`);
      expect(pom, name).toMatch(/<licenses>[\s\S]*<scm\b/);
      await runProgram(folder, jar, "--extract", "--file", artifact(name, ".jar"), "META-INF/MANIFEST.MF");
      const manifest = await readFile(join(folder, "META-INF/MANIFEST.MF"), "utf8");
      names.add(/^Automatic-Module-Name: (\S+)/m.exec(manifest)?.[1] ?? `${name} has none`);
      const sources = await runProgram(folder, jar, "--list", "--file", artifact(name, "-sources.jar"));
      expect(sources, name).toMatch(/clearway\/.*\.kt$/m);
    }
    expect(names.size).toBe(published(found).length);
    expect([...names].filter((name) => !/^clearway(\.\w+)+$/.test(name))).toEqual([]);
    for (const own of ["lab-jvm", "lab-foreign", "stress", "examples", "examples-android"])
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

  test.skipIf(!hasGnuPG)("every artifact has a signature that GnuPG accepts", async () => {
    for (const module of published(found)) {
      for (const ending of [".pom", ".jar", "-sources.jar"]) {
        const file = artifact(`clearway-${module}`, ending);
        const { status, stderr } = spawnSync("gpg", ["--homedir", gnupg(), "--batch", "--verify", `${file}.asc`, file]);
        expect(`${status} ${status === 0 ? "" : stderr}`, file).toBe("0 ");
      }
    }
  });

  test.skipIf(!hasNative)(
    "a Maven project in Java and Kotlin uses a native plugin without a build of libclearway",
    async () => {
      const { copy, run } = await project("jvm-plugin", newest);
      const include = join(root, "native/include");
      // The project also compiles code that names types of java.lang.foreign.
      const code = "class Sizes { static long of(clearway.plugin.Message answer) { return size(answer.getSegment()); }";
      const size = "static long size(java.lang.foreign.MemorySegment segment) { return segment.byteSize(); } }";
      await writeFile(join(copy, "src/main/java/Sizes.java"), `${code}\n${size}\n`);
      await runProgram(copy, "cc", "-shared", "-fPIC", `-I${include}`, "shout.c", "-o", "libshout.so");
      expect(await run("App")).toBe("HELLO FROM JAVA\n");
      expect(await run("KotlinAppKt")).toBe("HELLO FROM KOTLIN\n");
    },
    600_000,
  );

  test.skipIf(!hasNative).for([
    { language: "c", isHere: toolchains.c, build: ["make"] },
    { language: "rust", isHere: toolchains.rust, build: ["cargo", "build", "--release", "--locked", "--quiet"] },
  ])(
    "the Maven project of a new plugin in $language runs it",
    { timeout: 600_000 },
    async ({ language, isHere, build: [program = "", ...args] }, { skip }) => {
      if (!isHere) skip(`no compiler for ${language}`);
      const copy = join(folder, `new-${language}`);
      const cli = join(root, "ts/clearway-lab/dist/cli.js");
      await runProgram(root, process.execPath, cli, "init", "plugin", "--language", language, "--dir", copy);
      await runProgram(copy, "env", ...cargoAs, program, ...args);
      const library = `libnew_${language}_plugin.${process.platform === "darwin" ? "dylib" : "so"}`;
      const built = language === "c" ? join(copy, "build", library) : join(cargoTarget, "release", library);
      const output = await runMaven(copy, newest, `-Dplugin=${built}`, `-Dclearway.version=${version}`);
      expect(output.split("\n").slice(0, 3)).toEqual(["HELLO", "{words=2, letters=10}", "tick 1"]);
    },
  );

  /** Runs the Java program of the example for plugins with the published jars and no build tool. */
  const runPlain = async (copy: string, ...options: string[]) => {
    const java = join(found.get(newest) ?? "", "bin/java");
    await runProgram(
      copy,
      "cc",
      "-shared",
      "-fPIC",
      `-I${join(root, "native/include")}`,
      "shout.c",
      "-o",
      "libshout.so",
    );
    return runProgram(copy, java, ...options);
  };
  const kotlin = () => join(local(), "org/jetbrains/kotlin/kotlin-stdlib/2.2.21/kotlin-stdlib-2.2.21.jar");
  const nativeJars = () => [
    ...["", `-${platform()}`].map((ending) => artifact("clearway-native", `${ending}.jar`)),
    kotlin(),
  ];

  test.skipIf(!hasNative)(
    "a Java program without a build tool loads a plugin with the jars on its class path",
    async () => {
      const copy = join(folder, "plain");
      await cp(join(root, "examples/jvm-plugin"), copy, { recursive: true });
      const path = nativeJars().join(delimiter);
      const output = await runPlain(
        copy,
        ...["--enable-native-access=ALL-UNNAMED", "-cp", path, "src/main/java/App.java"],
      );
      expect(output).toBe("HELLO FROM JAVA\n");
    },
  );

  test.skipIf(!hasNative)("a Java module loads a plugin with the jars on its module path", async () => {
    const copy = join(folder, "modular");
    await cp(join(root, "examples/jvm-plugin"), copy, { recursive: true });
    const sources = join(copy, "modules/app");
    await mkdir(join(sources, "app"), { recursive: true });
    await writeFile(
      join(sources, "module-info.java"),
      "module app { requires clearway.plugin; requires kotlin.stdlib; }\n",
    );
    const app = await readFile(join(copy, "src/main/java/App.java"), "utf8");
    await writeFile(join(sources, "app/App.java"), `package app;\n${app}`);
    const path = nativeJars().join(delimiter);
    const javac = join(found.get(newest) ?? "", "bin/javac");
    const compiled = join(copy, "compiled");
    const files = [join(sources, "module-info.java"), join(sources, "app/App.java")];
    await runProgram(copy, javac, "--module-path", path, "-d", compiled, ...files);
    const output = await runPlain(
      copy,
      ...["--enable-native-access=clearway.plugin", "--module-path", `${path}${delimiter}${compiled}`],
      ...["--module", "app/app.App"],
    );
    expect(output).toBe("HELLO FROM JAVA\n");
  });

  test("a Java program without a build tool uses the jars", async () => {
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
    const path = [artifact("clearway-channel", ".jar"), kotlin()].join(delimiter);
    expect(await runProgram(program, java, "-cp", path, "Codec.java")).toBe("[1, two]\n");
  });
});
