// SPDX-License-Identifier: MIT OR Apache-2.0
import { BadValue } from "../refusal.js";
import { type Builder, firstRows, grown, noBytes } from "./builder.js";

/** A growing sequence of bits, least significant bit of a byte first. */
export class Bits {
  #bytes: Uint8Array = new Uint8Array(firstRows / 8);
  length = 0;

  push(bit: boolean): void {
    const at = this.length++;
    const byte = at >> 3;
    if (byte === this.#bytes.length) this.#bytes = grown(Uint8Array, this.#bytes, byte + 1);
    // The first bit of a byte clears the byte, because the byte may contain bits of an earlier chunk.
    const before = (at & 7) === 0 ? 0 : this.#bytes[byte]!;
    this.#bytes[byte] = bit ? before | (1 << (at & 7)) : before;
  }

  truncate(length: number): void {
    if (length >= this.length) return;
    this.length = length;
    this.#bytes[length >> 3]! &= (1 << (length & 7)) - 1;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, (this.length + 7) >> 3);
  }
}

export class BitBuilder implements Builder {
  readonly #bits = new Bits();

  constructor(readonly column: string) {}

  get length(): number {
    return this.#bits.length;
  }

  get bytes(): number {
    return this.#bits.length / 8;
  }

  push(value: unknown): void {
    if (typeof value !== "boolean") throw new BadValue(this.column, "true or false", value);
    this.#bits.push(value);
  }

  pushEmpty(): void {
    this.#bits.push(false);
  }

  truncate(rows: number): void {
    this.#bits.truncate(rows);
  }

  buffers(): Uint8Array[] {
    return [noBytes, this.#bits.bytes()];
  }
}
