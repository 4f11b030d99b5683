// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's stream: the task is the generator that paces the events.
import { expose } from "clearway/worker";
import { produce } from "../push/pace.js";

export default expose({ events: produce });
