// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints the result of `errorsByLength` in a fresh Node process, as JSON.
import { mark, measure } from "clearway/meter";
import { errorsByLength, toleranceMs } from "../known-stalls.mjs";

// The machine may lengthen a wait by at most half of the meter's tolerance.
const found = await errorsByLength({ mark, measure }, (ms) => toleranceMs(ms) / 2);
process.stdout.write(JSON.stringify(found));
