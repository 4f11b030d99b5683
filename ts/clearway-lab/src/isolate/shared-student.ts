// SPDX-License-Identifier: MIT OR Apache-2.0
// The list of the published experiment: one student object, N times.
import { type Student, studentAt } from "./student.js";

/** Maximum length of a part. V8 stores a new array of more than 32 million elements as a hash table. */
const PART_MAX = 10_000_000;

/**
 * Returns a list of `rows` references to one student. Joins equal parts instead of calling `push`: with `push`, V8 would have to grow an
 * array beyond its limit of 134 million elements before it reaches 100 million.
 */
export function repeatStudent(rows: number, partMax = PART_MAX): Student[] {
  const student = studentAt(0);
  const part = new Array<Student>(Math.min(rows, partMax)).fill(student);
  const wholeParts = new Array<Student[]>(Math.floor(rows / partMax)).fill(part);
  const rest = part.slice(0, rows % partMax);
  return ([] as Student[]).concat(...wholeParts, rest);
}
