// SPDX-License-Identifier: MIT OR Apache-2.0
// `make check`: everything that can be judged without running the library.
import { checks } from "./check/stages.mjs";
import { runStages } from "./stages.mjs";

await runStages(
  "check",
  [{ name: "build", command: [process.execPath, "scripts/build.mjs"], needed: true }, ...checks],
  process.argv.slice(2),
);
