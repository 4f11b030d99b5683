// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "../scripts/maven.mjs";

/** The version of Kotlin's standard library that jvm/pom.xml names. */
export const kotlinVersion = /<kotlin\.version>([^<]+)</.exec(readFileSync(join(folder, "pom.xml"), "utf8"))?.[1];
