// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes students and posts them: as objects (structured clone), as one object many times, as one JSON text, or as columns with a transfer
// list.
import { parent } from "#lab-host";
import { makeStudentColumns, makeStudents, repeatStudent } from "../isolate/student.js";

const main = parent();

main.listen((message) => {
  const { kind, rows } = message as { kind: "clone" | "shared" | "json" | "columns"; rows: number };
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
});
