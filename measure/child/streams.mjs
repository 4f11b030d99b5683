// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the longest waits of a timer beside streams in Node. Prints one JSON line. Arguments: the carrier, and the number of rounds.
import { pool } from "clearway";
import { longestWaits } from "../stream-shapes.mjs";

const [carrier, rounds] = [process.argv[2], Number(process.argv[3])];
const tasks = pool(new URL("./streams.tasks.mjs", import.meta.url), { size: 1, carrier });
console.log(JSON.stringify(await longestWaits(tasks, rounds, (next) => setTimeout(next, 1))));
await tasks.close();
