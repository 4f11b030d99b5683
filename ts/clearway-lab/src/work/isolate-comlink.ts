// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker of the family `isolate` with Comlink.
import * as Comlink from "comlink";
import { parent, sendInChunks } from "#lab-host";
import type { Progress, Upload } from "../host/common.js";
import { makeStudents, type Student } from "../isolate/student.js";

const remote = {
  /** Returns the students by structured clone. */
  make(rows: number): Student[] {
    return makeStudents(rows);
  },
  /** The progress calls a proxied callback. The last of these calls is awaited, so that none arrives after the result. */
  async send(upload: Upload, progress: (progress: Progress) => unknown): Promise<number> {
    let last: unknown;
    const received = await sendInChunks(upload, (value) => {
      last = progress(value);
    });
    await last;
    return received;
  },
};

export type ComlinkIsolate = typeof remote;

Comlink.expose(remote, parent().endpoint());
