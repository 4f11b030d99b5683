// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes N student records, on the main thread or in a worker, and delivers them to the main thread.
import * as Comlink from "comlink";
import { openWorker } from "#lab-host";
import { type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import type { Json } from "../protocol/message.js";
import type { BareRequest } from "../work/isolate-bare.js";
import type { ComlinkIsolate } from "../work/isolate-comlink.js";
import { metered, probed } from "./metered.js";
import { makeStudents, repeatStudent, type Student, type StudentColumns, StudentRows } from "./student.js";

/** Makes students and delivers them. A measurement calls it with few rows to warm up, and then calls it once more, timed. */
export type MakeStudents = (rows: number) => Promise<{ length: number; at(row: number): Student | undefined }>;

export function studentsMechanism(open: () => Promise<{ make: MakeStudents; close(): Promise<void> }>): Mechanism {
  return async ({ params }) => {
    const rows = numberParam(params, "rows");
    const { make, close } = await open();
    try {
      // Starts the worker and warms the code up before the measured call. The pool scenario measures the start.
      await make(Math.min(rows, 20_000));
      return await metered(async () => readEnds(await make(rows)));
    } finally {
      await close();
    }
  };
}

/** Reads the length, the first row and the last row. This is part of the measured time, because a result must be usable. */
export function readEnds(students: { length: number; at(row: number): Student | undefined }): Json {
  const first = students.at(0);
  const last = students.at(students.length - 1);
  return {
    length: students.length,
    first: first === undefined ? null : { rollNum: first.rollNum, name: first.name },
    last: last === undefined ? null : { rollNum: last.rollNum, name: last.name },
  };
}

const direct = studentsMechanism(async () => ({ make: async (rows) => makeStudents(rows), close: async () => {} }));

function bare(kind: "clone" | "json"): Mechanism {
  return studentsMechanism(async () => {
    const worker = openWorker("isolate-bare");
    let onStudents: (students: Student[]) => void = () => {};
    worker.listen((message) => onStudents((kind === "json" ? JSON.parse(message as string) : message) as Student[]));
    return {
      make: (rows) =>
        new Promise((resolve) => {
          onStudents = resolve;
          worker.post({ op: "students", kind, rows } satisfies BareRequest);
        }),
      close: () => worker.end(),
    };
  });
}

const handWrittenColumns = studentsMechanism(async () => {
  const worker = openWorker("isolate-bare");
  let onStudents: (students: StudentRows) => void = () => {};
  worker.listen((message) => onStudents(new StudentRows(message as StudentColumns)));
  return {
    make: (rows) =>
      new Promise((resolve) => {
        onStudents = resolve;
        worker.post({ op: "students", kind: "columns", rows } satisfies BareRequest);
      }),
    close: () => worker.end(),
  };
});

const comlink = studentsMechanism(async () => {
  const worker = openWorker("isolate-comlink");
  const remote = Comlink.wrap<ComlinkIsolate>(worker.endpoint());
  return {
    make: (rows) => remote.make(rows),
    close: async () => {
      remote[Comlink.releaseProxy]();
      await worker.end();
    },
  };
});

export const students: Record<string, Mechanism> = {
  direct,
  "worker-clone": bare("clone"),
  "worker-json": bare("json"),
  "worker-columns": handWrittenColumns,
  comlink,
};

// The published experiment on students: makes N of them directly or in a worker, under the published probe.

/** What the list has: its own object in each row, or one object in all rows, as the original. */
export type RowKind = "distinct rows" | "one shared object";

interface OpenedMaker {
  make: MakeStudents;
  close(): Promise<void>;
}

/** The published way has no warm-up, but the worker is started by a call for one row. The authors' isolate starts within the measured time. */
export function publishedMechanism(open: (kind: RowKind) => Promise<OpenedMaker>): Mechanism {
  return async ({ params }) => {
    const rows = numberParam(params, "rows");
    const { make, close } = await open(rowKindOf(textParam(params, "content")));
    try {
      await make(1);
      return await probed(async () => readEnds(await make(rows)));
    } finally {
      await close();
    }
  };
}

function rowKindOf(text: string): RowKind {
  if (text !== "distinct rows" && text !== "one shared object")
    throw new RangeError(`content must be "distinct rows" or "one shared object": content=${text}`);
  return text;
}

const publishedDirect = publishedMechanism(async (kind) => ({
  make: async (rows) => (kind === "distinct rows" ? makeStudents(rows) : repeatStudent(rows)),
  close: async () => {},
}));

const publishedWorker = publishedMechanism(async (kind) => {
  const thread = openWorker("isolate-bare");
  let onStudents: (students: ReturnType<typeof makeStudents>) => void = () => {};
  thread.listen((message) => onStudents(message as ReturnType<typeof makeStudents>));
  return {
    make: (rows) =>
      new Promise((resolve) => {
        onStudents = resolve;
        thread.post({
          ...{ op: "students", kind: kind === "distinct rows" ? "clone" : "shared", rows },
        } satisfies BareRequest);
      }),
    close: () => thread.end(),
  };
});

export const studentsPublished: Record<string, Mechanism> = { direct: publishedDirect, worker: publishedWorker };
