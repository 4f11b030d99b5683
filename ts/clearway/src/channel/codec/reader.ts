// SPDX-License-Identifier: MIT OR Apache-2.0
import { beside } from "./beside.js";
import type { Input } from "./input.js";
import { keyText } from "./key-text.js";
import type { CodecLimits } from "./limits.js";
import { refusal } from "./refusal.js";
import { sizes } from "./tags.js";
import { readUtf8 } from "./utf8.js";

/** A place in a message, and the parts that messages are made of. Nothing is read beyond the end. Values are `read-value.ts`. */
export class Reader {
  at = 0;
  readonly bytes: Uint8Array;
  readonly end: number;
  /** Whether lists may be views of the message. */
  readonly owned: boolean;
  /** Lists that came beside the message. */
  readonly attached: readonly Uint8Array[] | undefined;
  /** Copies of attachments that stand where no view of wide elements can, made once each. */
  readonly aligned: Uint8Array[] = [];
  /** How many bytes of attachments may be named: each time counts, where each makes a copy. */
  attachedLeft = Number.POSITIVE_INFINITY;
  /** How many values more the message's lists and maps may announce. */
  #itemsLeft: number;
  readonly #itemsMax: number;
  #view: DataView | undefined;

  constructor({ bytes, owned }: Input, { itemsMax }: CodecLimits) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.owned = owned;
    this.attached = beside.attached;
    beside.attached = undefined;
    this.#itemsLeft = itemsMax;
    this.#itemsMax = itemsMax;
  }

  get view(): DataView {
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    return this.#view;
  }

  /** Sees that some bytes are there. `from` is the byte to name if they are not. */
  need(count: number, from: number): void {
    if (count > this.end - this.at)
      throw refusal("truncated", `${count} bytes are needed and ${Math.max(this.end - this.at, 0)} are left`, from);
  }

  byte(): number {
    this.need(1, this.at);
    return this.bytes[this.at++]!;
  }

  int32(): number {
    this.need(4, this.at);
    const { bytes, at } = this;
    this.at = at + 4;
    return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }

  int64(): bigint {
    this.need(8, this.at);
    this.at += 8;
    return this.view.getBigInt64(this.at - 8, true);
  }

  /** An int64, as a number where that is exact. */
  integer(): number | bigint {
    this.need(8, this.at);
    const low = this.int32() >>> 0;
    const value = this.int32() * 0x1_0000_0000 + low;
    return Number.isSafeInteger(value) ? value : this.view.getBigInt64(this.at - 8, true);
  }

  /** Padding and a float64. `from` is the byte to name if they are not there. */
  float64(from = this.at): number {
    this.pad(8, from);
    this.need(8, from);
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  /** Padding up to a multiple of `alignment` from the message's first byte. What stands in it is not looked at. */
  pad(alignment: number, from = this.at): void {
    const over = this.at % alignment;
    if (over === 0) return;
    this.need(alignment - over, from);
    this.at += alignment - over;
  }

  /** A size or a count; what it announces is not checked. */
  size(): number {
    const from = this.at;
    const first = this.byte();
    if (first <= sizes.oneMax) return first;
    if (first === sizes.two) {
      this.need(2, from);
      this.at += 2;
      return this.bytes[this.at - 2]! | (this.bytes[this.at - 1]! << 8);
    }
    this.need(4, from);
    return this.int32() >>> 0;
  }

  /** A count of values of at least `bytesEach` bytes, checked against what is left and against the limit. */
  count(bytesEach: number): number {
    const from = this.at;
    const count = this.size();
    this.need(count * bytesEach, from);
    this.#itemsLeft -= count * bytesEach;
    if (this.#itemsLeft < 0) throw refusal("too-large", `more than ${this.#itemsMax} values`, from);
    return count;
  }

  text(): string {
    const from = this.at;
    const size = this.size();
    this.need(size, from);
    this.at += size;
    return readUtf8(this.bytes, this.at - size, this.at);
  }

  /** A text that is likely to come again. */
  key(): string {
    const from = this.at;
    const size = this.size();
    this.need(size, from);
    this.at += size;
    return keyText(this.bytes, this.at - size, this.at);
  }

  /** As many bytes: a view of an owned message, else a copy. */
  raw(count: number): Uint8Array {
    this.need(count, this.at);
    const start = this.at;
    this.at += count;
    return this.owned ? this.bytes.subarray(start, this.at) : this.bytes.slice(start, this.at);
  }

  /** Throws `trailing-bytes` unless everything was read. */
  finish(): void {
    if (this.at < this.end)
      throw refusal("trailing-bytes", `${this.end - this.at} bytes follow after the value`, this.at);
  }
}
