// SPDX-License-Identifier: MIT OR Apache-2.0
// The runner of the host `flutter`. The lab starts a new one for every measurement.
import { serve } from "../protocol/lines.js";
import { flutterOperations } from "./flutter-operations.js";

// Ctrl-C may reach the whole process group. The lab decides when a runner ends, by closing the runner's stdin.
process.on("SIGINT", () => {});

await serve(flutterOperations);
process.exit(0);
