// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { foreignMin, jdks } from "../../scripts/maven.mjs";
import { libclearway } from "../../scripts/native.mjs";
import { root } from "../packaging/clean-folder.js";

/** Returns the command that runs a Java program with the plugin modules, or undefined if something for it is missing. */
export function java(): string[] | undefined {
  const classes = ["native", "channel"].map((name) => join(root, `jvm/${name}/target/classes`));
  const libraries = join(root, "jvm/channel/target/lib");
  const found = [...jdks()].find(([release]) => release >= foreignMin);
  if (!found || ![...classes, libraries, libclearway].every((path) => existsSync(path))) return undefined;
  return [
    join(found[1], "bin/java"),
    "-cp",
    [...classes, `${libraries}/*`].join(delimiter),
    "--enable-native-access=ALL-UNNAMED",
    `-Dclearway.library=${libclearway}`,
  ];
}
