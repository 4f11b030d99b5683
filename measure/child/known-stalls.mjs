// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints what `errorsByLength` finds in a fresh Node process, as JSON.
import { mark, measure } from "clearway/meter";
import { errorsByLength, toleranceMs } from "../known-stalls.mjs";

// What the machine adds to a wait may be half of what the meter may be off.
const found = await errorsByLength({ mark, measure }, (ms) => toleranceMs(ms) / 2);
process.stdout.write(JSON.stringify(found));
