// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes students {rollNum, name} as objects and as hand-written columns. `names` is the number of different names. The columns are an
// expert's code: the bytes of all names and the end of each name. With few names, they are a list of names and one number per row.

export const nameAt = (row, names) => `student ${(row % names) + 1}`;

export function makeObjects(rows, names) {
  const students = new Array(rows);
  for (let row = 0; row < rows; row++) students[row] = { rollNum: row + 1, name: nameAt(row, names) };
  return students;
}

export function makeColumns(rows, names) {
  const rollNum = new Uint32Array(rows);
  if (names < rows) {
    const codes = new Uint32Array(rows);
    const codeOf = new Map();
    for (let row = 0; row < rows; row++) {
      rollNum[row] = row + 1;
      const name = nameAt(row, names);
      if (!codeOf.has(name)) codeOf.set(name, codeOf.size);
      codes[row] = codeOf.get(name);
    }
    return { message: { rollNum, codes, dictionary: [...codeOf.keys()] }, transfer: [rollNum.buffer, codes.buffer] };
  }
  const ends = new Uint32Array(rows + 1);
  const bytes = new Uint8Array(rows * 24);
  let end = 0;
  for (let row = 0; row < rows; row++) {
    rollNum[row] = row + 1;
    const name = nameAt(row, names);
    // The names are ASCII. For such short texts a loop is faster than TextEncoder.
    for (let at = 0; at < name.length; at++) bytes[end + at] = name.charCodeAt(at);
    end += name.length;
    ends[row + 1] = end;
  }
  return { message: { rollNum, ends, bytes }, transfer: [rollNum.buffer, ends.buffer, bytes.buffer] };
}

/** Answers a request `{ kind, rows, names }` through `post(message, transfer)`. */
export function answer({ kind, rows, names }, post) {
  if (kind === "columns") {
    const { message, transfer } = makeColumns(rows, names);
    return post(message, transfer);
  }
  const students = makeObjects(rows, names);
  post(kind === "json" ? JSON.stringify(students) : students, []);
}
