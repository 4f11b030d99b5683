// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints the result of `errorsByLength` in a new Node process, as JSON.
import { mark, measure } from "clearway/meter";
import { errorsByLength, toleranceMs } from "../known-stalls.mjs";

// The machine may add at most half of the meter's tolerance to a stall.
const found = await errorsByLength({ mark, measure }, (ms) => toleranceMs(ms) / 2);
process.stdout.write(JSON.stringify(found));
