// SPDX-License-Identifier: MIT OR Apache-2.0
// The Clearway way: the generator that paces the events is the task.
import { expose } from "clearway/worker";
import { produce } from "../push/pace.js";

export default expose({ events: produce });
