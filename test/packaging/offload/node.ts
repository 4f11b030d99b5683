// SPDX-License-Identifier: MIT OR Apache-2.0
import { exercise } from "./functions.js";

console.log(JSON.stringify(await exercise()));
