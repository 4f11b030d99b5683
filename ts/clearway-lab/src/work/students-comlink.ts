// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes students in a worker with Comlink, which returns them by structured clone.
import * as Comlink from "comlink";
import { parent } from "#lab-host";
import { makeStudents, type Student } from "../isolate/student.js";

const remote = {
  make(rows: number): Student[] {
    return makeStudents(rows);
  },
};

export type ComlinkStudents = typeof remote;

Comlink.expose(remote, parent().endpoint());
