// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiment on students: makes N of them directly or in a worker, under the published probe.
import { openWorker } from "#lab-host";
import { type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import { probed } from "./metered.js";
import { makeStudents, repeatStudent } from "./student.js";
import { type MakeStudents, readEnds } from "./students.js";

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

const direct = publishedMechanism(async (kind) => ({
  make: async (rows) => (kind === "distinct rows" ? makeStudents(rows) : repeatStudent(rows)),
  close: async () => {},
}));

const worker = publishedMechanism(async (kind) => {
  const thread = openWorker("students-bare");
  let onStudents: (students: ReturnType<typeof makeStudents>) => void = () => {};
  thread.listen((message) => onStudents(message as ReturnType<typeof makeStudents>));
  return {
    make: (rows) =>
      new Promise((resolve) => {
        onStudents = resolve;
        thread.post({ kind: kind === "distinct rows" ? "clone" : "shared", rows });
      }),
    close: () => thread.end(),
  };
});

export const studentsPublished: Record<string, Mechanism> = { direct, worker };
