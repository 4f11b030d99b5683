// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's tasks of the family `isolate`.

import { record, text, u32 } from "clearway/records";
import { expose, task } from "clearway/worker";
import { sendInChunks } from "#lab-host";
import type { Upload } from "../host/common.js";
import { type Content, type CrossingContent, makeContent, summaryOf } from "../isolate/crossing.js";
import { fetchImage, greyThumbnail, type Thumbnail } from "../isolate/image.js";
import {
  fetchStudents,
  makeStudentColumns,
  makeStudents,
  type Student,
  type StudentColumns,
  studentAt,
} from "../isolate/student.js";

/** The same student as a record type of `clearway/records`. Its names are not deduplicated, because all of them differ. */
const StudentRecord = record({ rollNum: u32, name: text() });

const ROWS_PER_PART = 1 << 20;

function tableOf(from: number, to: number) {
  const students = StudentRecord.table();
  for (let row = from; row < to; row++) students.push(studentAt(row));
  return students;
}

export default expose({
  /** The worker adds rows to a table, and the table moves to the main thread. */
  records: (rows: number) => tableOf(0, rows),
  /** The same rows as a stream of tables. */
  *recordParts(rows: number) {
    for (let from = 0; from < rows; from += ROWS_PER_PART) yield tableOf(from, Math.min(rows, from + ROWS_PER_PART));
  },
  /** Clearway transfers the columns' buffers. */
  columns: (rows: number): StudentColumns => makeStudentColumns(rows),
  /** Plain objects, which cross in pieces. */
  objects: (rows: number): Student[] => makeStudents(rows),
  fetchObjects: task(({ signal }, url: string) => fetchStudents(url, signal)),
  fetchRecords: task(async ({ signal }, url: string) => {
    const table = StudentRecord.table();
    for (const student of await fetchStudents(url, signal)) table.push(student);
    return table;
  }),
  /** Clearway finds the pixels inside the returned object and transfers them. */
  shrink: (rgba: Uint8Array): Thumbnail => greyThumbnail(rgba),
  fetchAndShrink: task(
    async ({ signal }, url: string): Promise<Thumbnail> => greyThumbnail(await fetchImage(url, signal)),
  ),
  take: (content: Content) => summaryOf(content),
  give: (kind: CrossingContent, bytes: number): Content => makeContent(kind, bytes),
  /** Progress is part of the task's context and never overtakes the result. */
  send: task(
    ({ progress, signal }, upload: Upload): Promise<number> => sendInChunks(upload, (value) => progress(value), signal),
  ),
});
