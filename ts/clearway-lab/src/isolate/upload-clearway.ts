// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Progress } from "../host/upload-source.js";
import type { Mechanism } from "../protocol/measured.js";
import { uploadMechanism } from "./upload.js";

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
