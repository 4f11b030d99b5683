// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's tasks for a JSON body: they return the parsed objects, or the same rows as a table of records.
import { expose, task } from "clearway/worker";
import { fetchStudents } from "../isolate/fetch-json.js";
import { StudentRecord } from "../isolate/student-record.js";

export default expose({
  objects: task(({ signal }, url: string) => fetchStudents(url, signal)),
  records: task(async ({ signal }, url: string) => {
    const table = StudentRecord.table();
    for (const student of await fetchStudents(url, signal)) table.push(student);
    return table;
  }),
});
