// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the figures that the JVM's tests with the tag "measure" print, on each JDK that `make test` uses.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { chosen } from "../scripts/maven.mjs";

const script = fileURLToPath(new URL("../scripts/jvm.mjs", import.meta.url));

/** Yields the figures that `node scripts/jvm.mjs measure JDK` prints. Each is a JSON object on a line, after `figure: `. */
export async function* jvm() {
  const { builds, newest } = chosen();
  if (builds === undefined) return yield { name: "jvm", missing: "no JDK 17 or newer was found" };
  for (const version of [builds, newest].filter(Boolean)) {
    const stdio = ["ignore", "pipe", "inherit"];
    const { stdout, status } = spawnSync(process.execPath, [script, "measure", `${version}`], {
      stdio,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`jvm.mjs measure ${version}: exit status ${status}\n${stdout}`);
    for (const line of stdout.split("\n")) {
      const at = line.indexOf("figure: ");
      if (at < 0) continue;
      const figure = JSON.parse(line.slice(at + "figure: ".length));
      if (figure.samples) figure.samples = figure.samples.map((sample) => sample ?? Number.POSITIVE_INFINITY);
      yield { ...figure, name: `${figure.name}, JDK ${version}` };
    }
  }
}
