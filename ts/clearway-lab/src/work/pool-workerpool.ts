// SPDX-License-Identifier: MIT OR Apache-2.0
import { worker } from "workerpool";
import { runPoolTask } from "../isolate/pool-task.js";

worker({ run: runPoolTask });
