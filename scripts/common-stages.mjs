// SPDX-License-Identifier: MIT OR Apache-2.0
// The stages that `make test`, `make deep` and `make release-check` share: the builds, and what their tests come after.
import { has } from "./browsers/engines.mjs";
import { chosen } from "./maven.mjs";
import { builds, toolchains } from "./native.mjs";
import { node24 } from "./node24.mjs";
import { toolchain } from "./swift.mjs";

export const node = process.execPath;
/** The program of Node 24, or undefined if npm has none for this system. */
export const newer = node24();
export const jdk = chosen();
export const hasSwift = toolchain() !== undefined;
/** The browser engines beside Chromium that this machine has, and those that it lacks. */
export const engines = ["firefox", "webkit"].filter(has);
export const enginesMissing = ["firefox", "webkit"].filter((engine) => !has(engine));

const vitest = "node_modules/vitest/vitest.mjs";

/** Returns the fields of a stage that runs tests with Vitest. `files` are words in their paths. `reads`: see `runStages`. */
export const tests = (
  root,
  { program = node, projects = [], files = [], after = ["build"], lane = "typescript", reads },
) => ({
  command: [program, vitest, "run", "--root", root, ...projects.flatMap((project) => ["--project", project]), ...files],
  after,
  lane,
  ...(reads && { reads }),
});

/** Returns those of `names` that this machine can build. */
const present = (...names) => names.filter((name) => builds.some((build) => build.name === name));
export const cPlugins = present("native: C plugins", "native: plugin check");
const realLife = present("native: SQLite plugin", "native: plugins from real life");
const rustPlugins = present("native: Rust plugins");
export const allPlugins = [...cPlugins, ...realLife, ...rustPlugins];
export const afterAddon = ["native: addon", ...allPlugins];
export const afterJava = jdk.builds ? ["jvm: compile"] : [];
export const afterSwift = hasSwift ? ["swift: compile"] : [];

const build = { name: "build", command: [node, "scripts/build.mjs", "clearway", "clearway-nats", "clearway-lab"] };
const compile = { name: "jvm: compile", command: [node, "scripts/jvm.mjs", "compile"] };
const swift = { name: "swift: compile", command: [node, "scripts/swift.mjs", "compile"] };

/** The builds. In each lane, the long ones come first, so that no lane ends with a long stage. */
export const buildStages = [
  { ...build, lane: "typescript" },
  ...(jdk.builds ? [{ ...compile, lane: "native" }] : []),
  // Cargo locks its target folder. The other stages with Cargo therefore start after this one, instead of waiting for the lock.
  { name: "native: addon", command: [node, "scripts/build.mjs", "clearway-native"], after: ["build"], lane: "native" },
  ...builds.map((each) => ({ ...each, after: each.cargo ? ["native: addon"] : [], lane: "native" })),
  ...(hasSwift ? [{ ...swift, lane: "native" }] : []),
];

/** The languages whose codecs this machine can build. */
export const languages = [
  "ts",
  ...(toolchains.c ? ["c"] : []),
  ...(toolchains.rust ? ["rust"] : []),
  ...(jdk.builds ? ["jvm"] : []),
  ...(hasSwift ? ["swift"] : []),
];
