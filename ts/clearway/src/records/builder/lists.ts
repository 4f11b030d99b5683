// SPDX-License-Identifier: MIT OR Apache-2.0
import { typedArrayLength, typedArrayName } from "../brands.js";
import { BadValue } from "../refusal.js";
import type { ItemKind, NumberKind } from "../shape.js";
import { arrays, type Values } from "../vector/numbers.js";
import { BitBuilder } from "./bits.js";
import { type Builder, bytesOf, firstRows, type Growth, grown, noBytes, offsetMax } from "./builder.js";
import { numberBuilder } from "./numbers.js";
import { TextBuilder } from "./texts.js";

interface Items extends Builder {
  readonly length: number;
  pushAll?(values: Values): void;
}

function itemsOf(of: ItemKind, column: string, growth: Growth): Items {
  if (of === "text") return new TextBuilder(column, growth);
  return of === "bool" ? new BitBuilder(column) : numberBuilder(of, column);
}

/** Collects lists of numbers, booleans or texts: offsets, and one sequence with the items of all rows. */
export class ListBuilder implements Builder {
  readonly #items: Items;
  readonly #expected: string;
  readonly #arrayName: string | undefined;
  #offsets: Int32Array = new Int32Array(firstRows + 1);
  #rows = 0;
  #end = 0;

  constructor(
    readonly column: string,
    of: ItemKind,
    readonly growth: Growth,
  ) {
    this.#items = itemsOf(of, `${column}[]`, growth);
    this.#arrayName = of in arrays ? arrays[of as NumberKind].name : undefined;
    this.#expected = `an array of ${of}`;
  }

  get bytes(): number {
    return this.#items.bytes + this.#rows * 4;
  }

  push(value: unknown): void {
    const items = this.#items;
    const array = typedArrayName(value);
    if (items.pushAll && array !== undefined && array === this.#arrayName) {
      this.#checkRoom(typedArrayLength(value));
      items.pushAll(value as Float64Array);
      this.#endRow();
      return;
    }
    if (!Array.isArray(value) && array === undefined) {
      throw new BadValue(this.column, this.#expected, value);
    }
    const list = value as unknown as ArrayLike<unknown>;
    this.#checkRoom(list.length);
    for (let at = 0; at < list.length; at++) items.push(list[at]);
    this.#endRow();
  }

  pushEmpty(): void {
    this.#endRow();
  }

  truncate(rows: number): void {
    this.#rows = Math.min(rows, this.#rows);
    this.#end = this.#offsets[this.#rows]!;
    this.#items.truncate(this.#end);
  }

  buffers(): Uint8Array[] {
    const [, ...items] = this.#items.buffers();
    return [noBytes, bytesOf(this.#offsets, this.#rows + 1), ...items];
  }

  #checkRoom(length: number): void {
    if (this.#end + length <= offsetMax) return;
    const hint = "Split the list over several rows.";
    throw new BadValue(this.column, "of fewer than 2^31 items together with its chunk", `${length} items`, hint);
  }

  // Ends a row after its last item. The list's length may be wrong, because the getters of the list may shorten it.
  #endRow(): void {
    const items = this.#items;
    const at = ++this.#rows;
    if (at === this.#offsets.length) this.#offsets = grown(Int32Array, this.#offsets, at + 1);
    this.#offsets[at] = items.length;
    this.growth.bytes += (items.length - this.#end) * 8;
    this.#end = items.length;
  }
}
