// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import type { ValueReader } from "./extension.js";
import type { Reader } from "./reader.js";
import { checkAlignment } from "./value-writer.js";

/** What an extension sees of a reader. */
export function valueReader(reader: Reader, value: () => unknown): ValueReader {
  return {
    get offset() {
      return reader.at;
    },
    get left() {
      return reader.end - reader.at;
    },
    uint8: () => reader.byte(),
    int32: () => reader.int32(),
    uint32: () => reader.int32() >>> 0,
    int64: () => reader.int64(),
    float64: () => reader.float64(),
    size: () => reader.size(),
    bytes(count) {
      if (!(Number.isInteger(count) && count >= 0)) throw invalid("count", "a whole number of 0 or more", count);
      return reader.raw(count);
    },
    text: () => reader.text(),
    pad: (alignment) => reader.pad(checkAlignment(alignment)),
    value,
  };
}
