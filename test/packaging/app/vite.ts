// SPDX-License-Identifier: MIT OR Apache-2.0
// Vite recognizes a worker by the form `new Worker(new URL(...))` and bundles the task module for it.
import { pool } from "clearway";
import { exercise } from "./exercise.js";
import { show } from "./show.js";

const tally = pool<typeof import("./tally.tasks.js")>(
  () => new Worker(new URL("./tally.tasks.ts", import.meta.url), { type: "module" }),
  { size: 1, metrics: true },
);
void show(exercise(tally));
