// SPDX-License-Identifier: MIT OR Apache-2.0

/** @typedef {{ rollNum: Int32Array, nameEnds: Uint32Array, nameBytes: Uint8Array }} Columns */

/** Rows over columns. Each row is created on demand. */
export class Students {
  #columns;
  #decoder = new TextDecoder();

  /** @param {Columns} columns */
  constructor(columns) {
    this.#columns = columns;
  }

  get length() {
    return this.#columns.rollNum.length;
  }

  /** @param {number} row */
  at(row) {
    const { rollNum, nameEnds, nameBytes } = this.#columns;
    const name = nameBytes.subarray(nameEnds[row - 1] ?? 0, nameEnds[row]);
    return { rollNum: rollNum[row], name: this.#decoder.decode(name) };
  }

  *[Symbol.iterator]() {
    for (let row = 0; row < this.length; row++) yield this.at(row);
  }
}
