// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's task: progress is part of the task's context and never overtakes the result.
import { expose, task } from "clearway/worker";
import { sendInChunks } from "#lab-host";
import type { Upload } from "../host/upload-source.js";

export default expose({
  send: task(
    ({ progress, signal }, upload: Upload): Promise<number> => sendInChunks(upload, (value) => progress(value), signal),
  ),
});
