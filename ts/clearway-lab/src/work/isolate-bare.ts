// SPDX-License-Identifier: MIT OR Apache-2.0
// The hand-written worker of the family `isolate`.
import { parent, sendInChunks } from "#lab-host";
import type { Upload } from "../host/common.js";
import { type CrossingRequest, makeContent, summaryOf } from "../isolate/crossing.js";
import { fetchImage, greyThumbnail } from "../isolate/image.js";
import { fetchStudents, makeStudentColumns, makeStudents, repeatStudent } from "../isolate/student.js";

export type BareRequest =
  /** Makes students and posts them: as objects (structured clone), as one object many times, as one JSON text, or as columns that move. */
  | { op: "students"; kind: "clone" | "shared" | "json" | "columns"; rows: number }
  /** Parses a JSON body, given as text or as an address, and posts the objects. */
  | { op: "json"; text?: string; url?: string }
  /** Makes a thumbnail of given or fetched bytes, and moves its pixels back. */
  | { op: "image"; rgba?: Uint8Array; url?: string }
  | CrossingRequest
  /** Uploads. Posts the progress after every chunk, and at the end the number of bytes that the server confirmed. */
  | { op: "upload"; upload: Upload };

const main = parent();

main.listen((message) => answer(message as BareRequest));

async function answer(request: BareRequest): Promise<void> {
  switch (request.op) {
    case "students":
      return postStudents(request.kind, request.rows);
    case "json":
      return main.post(request.text === undefined ? await fetchStudents(request.url!) : JSON.parse(request.text));
    case "image": {
      const thumbnail = greyThumbnail(request.rgba ?? (await fetchImage(request.url!)));
      return main.post(thumbnail, [thumbnail.pixels.buffer as ArrayBuffer]);
    }
    case "take":
      return main.post(summaryOf(request.content));
    case "give": {
      const content = makeContent(request.kind, request.bytes);
      return main.post(content, request.moves ? [(content as Uint8Array).buffer as ArrayBuffer] : []);
    }
    case "upload":
      return main.post({ receivedBytes: await sendInChunks(request.upload, (progress) => main.post(progress)) });
  }
}

function postStudents(kind: "clone" | "shared" | "json" | "columns", rows: number): void {
  if (kind === "columns") {
    const columns = makeStudentColumns(rows);
    const views = [columns.rollNum, columns.nameBytes, columns.nameOffsets];
    main.post(
      columns,
      views.map(({ buffer }) => buffer as ArrayBuffer),
    );
    return;
  }
  const students = kind === "shared" ? repeatStudent(rows) : makeStudents(rows);
  main.post(kind === "json" ? JSON.stringify(students) : students);
}
