// SPDX-License-Identifier: MIT OR Apache-2.0
// A task with its own pool: the caller's side of the library, including its lazy parts, inside a worker.
import { pool } from "clearway";
import { expose } from "clearway/worker";
import { exercise } from "./exercise.js";

export default expose({
  exercise: () =>
    exercise(
      pool<typeof import("./tally.tasks.js")>(
        () => new Worker(new URL("./tally.tasks.ts", import.meta.url), { type: "module" }),
        { size: 1, metrics: true },
      ),
    ),
});
