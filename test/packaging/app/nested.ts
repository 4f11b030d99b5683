// SPDX-License-Identifier: MIT OR Apache-2.0
import { run } from "clearway";
import { show } from "./show.js";

const nested = run<typeof import("./nested.tasks.js")>(
  () => new Worker(new URL("./nested.tasks.ts", import.meta.url), { type: "module" }),
);
void show(nested.call.exercise());
