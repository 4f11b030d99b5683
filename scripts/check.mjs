// SPDX-License-Identifier: MIT OR Apache-2.0
// `make check`: every check that does not run the library.
import { checks, headerCheck, jvmFormat, swiftChecks } from "./check/stages.mjs";
import { runStages } from "./stages.mjs";

const build = { name: "build", command: [process.execPath, "scripts/build.mjs"], lane: "typescript" };
const after = { built: ["build"], cargo: ["build"] };

await runStages(
  "check",
  [
    build,
    ...[...checks, headerCheck, jvmFormat, ...swiftChecks].map((stage) => ({
      lane: "typescript",
      after: after[stage.needs] ?? [],
      ...stage,
    })),
  ],
  process.argv.slice(2),
);
