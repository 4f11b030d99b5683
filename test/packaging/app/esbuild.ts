// SPDX-License-Identifier: MIT OR Apache-2.0
// esbuild does not change `new URL(...)`. The task module is therefore a separate entry point, and the URL names its built file.
import { pool } from "clearway";
import { exercise } from "./exercise.js";
import { show } from "./show.js";

const tally = pool<typeof import("./tally.tasks.js")>(
  () => new Worker(new URL("./tally.tasks.js", import.meta.url), { type: "module" }),
  { size: 1, metrics: true },
);
void show(exercise(tally));
