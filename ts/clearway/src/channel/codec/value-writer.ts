// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import type { ValueWriter } from "./extension.js";
import type { Writer } from "./writer.js";

/** What an extension sees of a writer: the parts, checked, because it is the application's code that calls them. */
export function valueWriter(writer: Writer, value: (value: unknown) => void): ValueWriter {
  return {
    get offset() {
      return writer.offset;
    },
    uint8: (byte) => writer.byte(whole(byte, 0, 0xff)),
    int32: (number) => writer.int32(whole(number, -0x8000_0000, 0x7fff_ffff)),
    uint32: (number) => writer.uint32(whole(number, 0, 0xffff_ffff)),
    int64(number) {
      if (typeof number !== "bigint" || BigInt.asIntN(64, number) !== number)
        throw invalid("value", "a bigint of 64 bits", number);
      writer.int64(number);
    },
    float64(number) {
      if (typeof number !== "number") throw invalid("value", "a number", number);
      writer.float64(number);
    },
    size: (count) => writer.size(whole(count, 0, 0xffff_ffff)),
    bytes(bytes) {
      if (!(bytes instanceof Uint8Array)) throw invalid("value", "a Uint8Array", bytes);
      writer.raw(bytes);
    },
    text(text) {
      if (typeof text !== "string") throw invalid("value", "a string", text);
      writer.text(text);
    },
    pad: (alignment) => writer.pad(checkAlignment(alignment)),
    value,
  };
}

/** 1, 2, 4 or 8. Throws `invalid-argument` for anything else. */
export function checkAlignment(alignment: number): number {
  if (![1, 2, 4, 8].includes(alignment)) throw invalid("alignment", "1, 2, 4 or 8", alignment);
  return alignment;
}

function whole(value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid("value", `a whole number from ${min} to ${max}`, value);
}
