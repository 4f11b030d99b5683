// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../mechanism/measured.js";
import { uploadMechanism } from "./upload.js";
import type { Progress } from "./upload-source.js";

export const uploadsClearway: Record<string, Mechanism> = {
  clearway: uploadMechanism(async () => {
    const workers = pool<typeof import("../work/upload-tasks.js")>(workerUrl("upload-tasks"), { size: 1 });
    return {
      send: (upload, progress) =>
        workers.with({ onProgress: (value) => progress(value as Progress) }).call.send(upload),
      close: () => workers.close(),
    };
  }),
};
