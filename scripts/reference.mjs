// SPDX-License-Identifier: MIT OR Apache-2.0
// `make reference`: generates the API reference of every language into out/reference. Each TypeScript package, JVM module and Rust crate
// has its own pages. C has its headers. ONLY selects languages. `--check` writes nothing: TypeDoc only checks the TypeScript packages, for
// example that every public function and type has a doc comment.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { cargo, native } from "./cargo.mjs";
import { packages } from "./check/api.mjs";
import { folder as jvm, maven } from "./maven.mjs";
import { isProgram } from "./problems.mjs";
import { root } from "./sources.mjs";

const out = join(root, "out/reference");

/**
 * Types that public declarations mention but that are not exported, because they only calculate other types. TypeDoc reports every other
 * type that is mentioned but not exported, because users may have to name such a type.
 */
const internal = {
  "ts/clearway": [
    ...[
      "BigInts",
      "errorCodes",
      "Event",
      "EventNames",
      "FieldTypes",
      "FileHandle",
      "Fn",
      "Function",
      "Given",
      "KeyObject",
      "KindShape",
      "Method",
    ],
    ...[
      "MapperOf",
      "MethodNames",
      "Movable",
      "NodeBuffer",
      "Numbers",
      "Platform",
      "PoolTask",
      "Primitive",
      "ProgressOf",
      "Read",
      "ReadAs",
      "Received",
      "Returned",
      "RowOf",
      "Sendable",
      "Sent",
      "Simple",
      "TasksOf",
      "TypesOf",
      "units",
      "X509Certificate",
    ],
    ...["Both", "Proxied", "SetupModules", "remoteBrand"],
    ...["BroadcastersOf", "CallersOf", "MappersOf", "Write", "WriteFields", "WriteOf"],
  ],
  "ts/clearway-build": [],
  "ts/clearway-native": [],
  "ts/clearway-nats": [],
};

/** The JVM modules that applications use. */
const modules = ["executor", "channel", "channel-websocket", "meter", "native"];

/** The Rust crates for authors of hosts and plugins, and for users of the codecs. */
const crates = ["clearway-plugin", "clearway-core", "clearway-codec"];

/** Runs TypeDoc over one package. With `emit` "none", it only checks. Returns the exit status. */
function typedoc(source, emit) {
  const name = basename(source);
  const args = [
    "node_modules/typedoc/bin/typedoc",
    ...["--options", "scripts/typedoc.json", "--logLevel", "Warn"],
    ...["--name", name, "--tsconfig", `${source}/tsconfig.json`, "--out", join(out, name)],
    ...packages[source].flatMap((entry) => ["--entryPoints", `${source}/src/${entry}.ts`]),
    ...internal[source].flatMap((type) => ["--intentionallyNotExported", type]),
    // The types are checked elsewhere (scripts/check/stages.mjs).
    ...(emit === "none" ? ["--emit", "none", "--skipErrorChecking"] : []),
  ];
  return spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
}

const typescript = (emit) => Object.keys(packages).reduce((worst, source) => Math.max(worst, typedoc(source, emit)), 0);

function rust() {
  const chosen = crates.flatMap((crate) => ["-p", crate]);
  const status = cargo(["doc", "-q", "--no-deps", "--lib", ...chosen], {
    env: { ...process.env, RUSTDOCFLAGS: "-D warnings" },
  });
  if (status === 0) cpSync(join(native, "target/doc"), join(out, "rust"), { recursive: true });
  return status;
}

function kotlin() {
  const status = maven(["-Preference", "compile", "dokka:dokka", "-pl", modules.join(",")]);
  for (const module of status === 0 ? modules : []) {
    const site = join(jvm, module, "target/dokka");
    if (existsSync(site)) cpSync(site, join(out, "jvm", module), { recursive: true });
  }
  return status;
}

/** Copies the C headers. They are the reference of C, because each declaration has a comment. */
function c() {
  mkdirSync(join(out, "c"), { recursive: true });
  cpSync(join(native, "include/clearway.h"), join(out, "c/clearway.h"));
  cpSync(join(native, "c/include/clearway_codec.h"), join(out, "c/clearway_codec.h"));
  return 0;
}

const languages = { typescript: () => typescript("docs"), rust, jvm: kotlin, c };

function index() {
  const links = [
    ...Object.keys(packages).map((source) => [`${basename(source)}/index.html`, `${basename(source)} (TypeScript)`]),
    ...modules.map((name) => [`jvm/${name}/index.html`, `clearway-${name} (Kotlin and Java)`]),
    ...crates.map((name) => [`rust/${name.replaceAll("-", "_")}/index.html`, `${name} (Rust)`]),
    ["c/clearway.h", "clearway.h (C: hosts and plugins)"],
    ["c/clearway_codec.h", "clearway_codec.h (C: codecs)"],
  ].filter(([path]) => existsSync(join(out, path)));
  const items = links.map(([path, text]) => `<li><a href="${path}">${text}</a></li>`);
  writeFileSync(
    join(out, "index.html"),
    `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Clearway: API reference</title>\n` +
      `<h1>Clearway: API reference</h1>\n<ul>\n${items.join("\n")}\n</ul>\n</html>\n`,
  );
}

if (isProgram(import.meta)) {
  const given = process.argv.slice(2);
  if (given.includes("--check")) process.exitCode = typescript("none");
  else {
    const unknown = given.filter((name) => !(name in languages));
    if (unknown.length > 0) {
      console.error(`reference: no language is called ${unknown.join(" or ")}: ${Object.keys(languages).join(", ")}`);
      process.exit(2);
    }
    if (given.length === 0) rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    for (const name of given.length > 0 ? given : Object.keys(languages)) {
      if (languages[name]() !== 0) process.exitCode = 1;
    }
    index();
    console.log(`reference: out/reference/index.html`);
  }
}
