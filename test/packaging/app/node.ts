// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool, run } from "clearway";
import { exercise } from "./exercise.js";

const source = new URL("./tally.tasks.js", import.meta.url);
const once = await run<typeof import("./tally.tasks.js")>(source).call.add(20, 22);
await using tally = pool<typeof import("./tally.tasks.js")>(source, { size: 1, metrics: true });
console.log(JSON.stringify({ ...(await exercise(tally)), once }));
