// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { StudentRows } from "./student.js";
import { studentsMechanism } from "./students.js";

export const studentsClearway: Record<string, Mechanism> = {
  "clearway-columns": studentsMechanism(async () => {
    const workers = pool<typeof import("../work/students-tasks.js")>(workerUrl("students-tasks"), { size: 1 });
    return {
      make: async (rows) => new StudentRows(await workers.call.make(rows)),
      close: () => workers.close(),
    };
  }),
  "clearway-records": studentsMechanism(async () => {
    const workers = pool<typeof import("../work/students-records.js")>(workerUrl("students-records"), { size: 1 });
    return { make: (rows) => workers.call.make(rows), close: () => workers.close() };
  }),
};
