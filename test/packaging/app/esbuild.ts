// SPDX-License-Identifier: MIT OR Apache-2.0
// esbuild leaves `new URL(...)` alone: the task module is an entry point of its own, and the built file is named here.
import { pool } from "clearway";
import { exercise } from "./exercise.js";
import { show } from "./show.js";

const tally = pool<typeof import("./tally.tasks.js")>(
  () => new Worker(new URL("./tally.tasks.js", import.meta.url), { type: "module" }),
  { size: 1, metrics: true },
);
void show(exercise(tally));
