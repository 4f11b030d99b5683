// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CodePart } from "../part.js";
import { malformed, unreadable } from "../refusal.js";
import type { TextVector } from "./spans.js";
import { type Bitmap, nullTest, Unsendable, type Vector } from "./vector.js";

/** A vector of texts, stored as codes into a dictionary. The first read of each text in a chunk decodes the text. */
export class CodeVector extends Unsendable implements Vector {
  #decoded: (string | undefined)[] = [];
  readonly #entries: number;
  #allTexts: readonly string[] | undefined;

  constructor(
    readonly codes: Int32Array,
    readonly texts: TextVector,
    readonly validity: Bitmap | undefined,
  ) {
    super();
    this.#entries = texts.spans.rows;
  }

  get(row: number): string {
    const code = this.codes[row];
    if (code === undefined) throw unreadable(this.codes.buffer, "a column ends before its table does");
    return this.#decoded[code] ?? this.#decode(code);
  }

  part(start: number, rows: number): CodePart {
    const { codes, validity } = this;
    const allTexts = (): readonly string[] => {
      this.#allTexts ??= Array.from({ length: this.#entries }, (_, code) => this.#decoded[code] ?? this.#decode(code));
      return this.#allTexts;
    };
    return {
      length: rows,
      codes: codes.subarray(start, start + rows),
      get dictionary() {
        return allTexts();
      },
      isNull: nullTest(validity, start),
    };
  }

  #decode(code: number): string {
    if (!(code >= 0 && code < this.#entries)) {
      throw malformed(`code ${code} is not in its dictionary of ${this.#entries} texts`);
    }
    // Allocates the array at full length, because engines turn an array that grows with holes into a slow hash table.
    if (this.#decoded.length === 0) this.#decoded = new Array(this.#entries);
    const text = this.texts.get(code);
    this.#decoded[code] = text;
    return text;
  }
}
