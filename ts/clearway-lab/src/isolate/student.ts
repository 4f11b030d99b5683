// SPDX-License-Identifier: MIT OR Apache-2.0
// The student record of this scenario, and the same records as columns. Columns are typed arrays, which move without copies.

export interface Student {
  rollNum: number;
  name: string;
}

export function studentAt(row: number): Student {
  return { rollNum: row + 1, name: "student " + (row + 1) };
}

export function makeStudents(rows: number): Student[] {
  const students: Student[] = new Array(rows);
  for (let row = 0; row < rows; row++) students[row] = studentAt(row);
  return students;
}

/** Students as columns. The name of row r is the UTF-8 in `nameBytes` from `nameOffsets[r]` to `nameOffsets[r + 1]`. */
export interface StudentColumns {
  rollNum: Int32Array;
  nameBytes: Uint8Array;
  nameOffsets: Uint32Array;
}

/** Builds the columns. Doubles the memory of the name bytes when it is full. Keeps the unused memory after the last name. */
export function makeStudentColumns(rows: number): StudentColumns {
  const rollNum = new Int32Array(rows);
  const nameOffsets = new Uint32Array(rows + 1);
  const encoder = new TextEncoder();
  let nameBytes = new Uint8Array(Math.max(64, rows * 16));
  let end = 0;
  for (let row = 0; row < rows; row++) {
    const student = studentAt(row);
    rollNum[row] = student.rollNum;
    const name = student.name;
    if (end + name.length * 3 > nameBytes.length) {
      const larger = new Uint8Array(nameBytes.length * 2);
      larger.set(nameBytes);
      nameBytes = larger;
    }
    end = encodeShort(name, nameBytes, end, encoder);
    nameOffsets[row + 1] = end;
  }
  return { rollNum, nameBytes: nameBytes.subarray(0, end), nameOffsets };
}

/** Writes `text` at `at` and returns the end. A loop is faster than `encodeInto` for short ASCII text, as most names are. */
function encodeShort(text: string, into: Uint8Array, at: number, encoder: TextEncoder): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return at + encoder.encodeInto(text, into.subarray(at)).written;
    into[at + i] = code;
  }
  return at + text.length;
}

/** Reads rows from columns. It decodes a row only when the row is read. It borrows the columns. */
export class StudentRows {
  static readonly #decoder = new TextDecoder();
  readonly #columns: StudentColumns;

  constructor(columns: StudentColumns) {
    this.#columns = columns;
  }

  get length(): number {
    return this.#columns.rollNum.length;
  }

  at(row: number): Student | undefined {
    const { rollNum, nameBytes, nameOffsets } = this.#columns;
    if (row < 0 || row >= rollNum.length) return undefined;
    const name = StudentRows.#decoder.decode(nameBytes.subarray(nameOffsets[row], nameOffsets[row + 1]));
    return { rollNum: rollNum[row]!, name };
  }
}

// The list of the published experiment: one student object, N times.

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

// Students as a JSON body.

export async function fetchText(url: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch(url, { cache: "no-store", ...(signal ? { signal } : {}) });
  if (!response.ok) throw new Error(`the fixture server answered ${response.status}: url=${url}`);
  return response.text();
}

export async function fetchStudents(url: string, signal?: AbortSignal): Promise<Student[]> {
  return JSON.parse(await fetchText(url, signal)) as Student[];
}
