// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { publishedMechanism } from "./students-published.js";

export const studentsPublishedClearway: Record<string, Mechanism> = {
  "clearway-records": publishedMechanism(async () => {
    const workers = pool<typeof import("../work/students-records.js")>(workerUrl("students-records"), { size: 1 });
    return { make: (rows) => workers.call.make(rows), close: () => workers.close() };
  }),
};
