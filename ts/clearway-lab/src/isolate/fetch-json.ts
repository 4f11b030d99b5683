// SPDX-License-Identifier: MIT OR Apache-2.0
// Fetches a JSON body of students and parses it: on the main thread, in a worker after the main thread fetched it, or fetched and parsed in
// a worker. The students end on the main thread.
import { openWorker } from "#lab-host";
import { type Mechanism, numberParam } from "../protocol/measured.js";
import type { BareRequest } from "../work/isolate-bare.js";
import { metered } from "./metered.js";
import { fetchStudents, fetchText, type Student } from "./student.js";
import { type MakeStudents, readEnds } from "./students.js";

/** The fixture's address of a JSON body with `rows` students. */
export const studentsUrl = (httpUrl: string, rows: number): string => `${httpUrl}/students?rows=${rows}`;

/** Rows of the warm-up, which also starts the worker. */
const WARM_UP_ROWS = 2000;

type FetchRows = (url: string) => ReturnType<MakeStudents>;

export function jsonMechanism(open: () => Promise<{ read: FetchRows; close(): Promise<void> }>): Mechanism {
  return async ({ params, fixture }) => {
    const rows = numberParam(params, "rows");
    const { read, close } = await open();
    try {
      const url = studentsUrl(fixture.httpUrl, rows);
      // The server makes a body when it is first asked for it.
      await fetchText(url);
      await read(studentsUrl(fixture.httpUrl, Math.min(rows, WARM_UP_ROWS)));
      return await metered(async () => readEnds(await read(url)));
    } finally {
      await close();
    }
  };
}

const main = jsonMechanism(async () => ({ read: fetchStudents, close: async () => {} }));

/** Makes a mechanism with a bare worker that gets the text, or the address. It returns the students by structured clone. */
function bare(fetches: boolean): Mechanism {
  return jsonMechanism(async () => {
    const worker = openWorker("isolate-bare");
    let onStudents: (students: Student[]) => void = () => {};
    worker.listen((message) => onStudents(message as Student[]));
    return {
      read: async (url) => {
        const message: BareRequest = { op: "json", ...(fetches ? { url } : { text: await fetchText(url) }) };
        return new Promise<Student[]>((resolve) => {
          onStudents = resolve;
          worker.post(message);
        });
      },
      close: () => worker.end(),
    };
  });
}

export const jsonBodies: Record<string, Mechanism> = {
  "main-thread": main,
  "worker-text": bare(false),
  "worker-fetch": bare(true),
};
