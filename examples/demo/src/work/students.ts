// SPDX-License-Identifier: MIT OR Apache-2.0
// The work of job 1, the same in every implementation ("way"): making a million students, as objects or as columns.

import { Stopwatch, type Timed } from "./steps.js";

export interface Student {
  rollNum: number;
  name: string;
}

/** The interface of a result, which the page uses for every form of storage. An array of objects implements it. */
export interface Roster {
  readonly length: number;
  at(index: number): Student | undefined;
}

/** The same students as three flat buffers: name `i` is the UTF-8 in `nameBytes` from `nameEnds[i - 1]` to `nameEnds[i]`. */
export interface StudentColumns {
  rollNum: Int32Array;
  nameBytes: Uint8Array;
  nameEnds: Uint32Array;
}

const given = ["Asha", "Björn", "Chidi", "Dilara", "Émile", "Farid", "Grace", "Hana", "Ivo", "José", "Kaya", "Li"];
const family = ["Adeyemi", "Borges", "Çelik", "Dvořák", "Eze", "Fischer", "García", "Haddad", "Ito", "Jansen", "Kaur"];

const nameOf = (index: number) => given[index % given.length] + " " + family[index % family.length];

export function buildRows(count: number): Timed<Student[]> {
  const watch = new Stopwatch();
  const rows: Student[] = [];
  for (let index = 0; index < count; index++) rows.push({ rollNum: index + 1, name: nameOf(index) });
  watch.lap("making the rows");
  return { value: rows, steps: watch.steps };
}

export function buildColumns(count: number): Timed<StudentColumns> {
  const watch = new Stopwatch();
  const encoder = new TextEncoder();
  const rollNum = new Int32Array(count);
  const nameEnds = new Uint32Array(count);
  let nameBytes = new Uint8Array(count * 16);
  let end = 0;
  for (let index = 0; index < count; index++) {
    const name = nameOf(index);
    // A UTF-16 code unit becomes at most 3 bytes of UTF-8.
    if (end + name.length * 3 > nameBytes.length) {
      const larger = new Uint8Array(nameBytes.length * 2);
      larger.set(nameBytes);
      nameBytes = larger;
    }
    end += encoder.encodeInto(name, nameBytes.subarray(end)).written;
    rollNum[index] = index + 1;
    nameEnds[index] = end;
  }
  const value = { rollNum, nameBytes: nameBytes.slice(0, end), nameEnds };
  watch.lap("making the rows");
  return { value, steps: watch.steps };
}

/** Creates rows from columns on demand. Creating all rows at once would block the thread again. */
export class Students implements Roster {
  readonly #columns: StudentColumns;
  readonly #decoder = new TextDecoder();

  constructor(columns: StudentColumns) {
    this.#columns = columns;
  }

  get length(): number {
    return this.#columns.rollNum.length;
  }

  at(index: number): Student | undefined {
    const { rollNum, nameBytes, nameEnds } = this.#columns;
    const row = index < 0 ? index + rollNum.length : index;
    const roll = rollNum[row];
    if (roll === undefined) return undefined;
    return { rollNum: roll, name: this.#decoder.decode(nameBytes.subarray(nameEnds[row - 1] ?? 0, nameEnds[row])) };
  }
}
