// SPDX-License-Identifier: MIT OR Apache-2.0
// `make release-check`: packs everything that is published, installs it in empty folders, and uses it there with every tool of
// docs/runs-with.md. `make release` runs it first. `make test` checks what a change breaks more often.
import { afterAddon, afterJava, afterSwift, buildStages, cPlugins, hasSwift, jdk, tests } from "./common-stages.mjs";
import { sayMissing, toolchains } from "./native.mjs";
import { runStages } from "./stages.mjs";
import { missing as swiftMissing } from "./swift.mjs";

sayMissing("release-check");
if (!hasSwift) console.error(`release-check: ${swiftMissing}; the archive of Swift is left out`);

const native = (name, files, after) => ({ name, ...tests("test", { files, after, lane: "native" }) });
const stages = [
  ...buildStages,
  { name: "packaging", ...tests("test", { files: ["packaging"], after: ["build", "native: addon", ...cPlugins] }) },
  { name: "release", ...tests("test", { files: ["release"], after: ["build", "native: addon"] }) },
  { name: "runs with", ...tests("test", { files: ["runs-with"] }) },
  ...(jdk.builds ? [native("jvm: published artifacts", ["maven/"], [...afterJava, ...afterAddon])] : []),
  native("plugin templates", ["templates"], ["build", ...afterAddon, ...afterJava, ...afterSwift]),
  ...(toolchains.rust ? [native("packed crates", ["tarballs/crates"], ["native: addon"])] : []),
  native("archives of C and Swift", ["tarballs/c.test", "tarballs/swift"], afterSwift),
];

await runStages("release-check", stages, process.argv.slice(2), { record: "out/release-check.json" });
