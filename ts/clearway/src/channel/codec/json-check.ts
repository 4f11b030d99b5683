// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CodecErrorCode } from "../../error/codec-codes.js";
import { type CodecError, codecError } from "./codec-error.js";
import { validUntil } from "./utf8.js";

type Wrong = readonly [CodecErrorCode, number] | undefined;
// The tokens that the scanner accepts next. `, or ]` follows a value in an array, and `, or }` a value in an object.
type Wanted = "value" | "value or ]" | "key or }" | "key" | ":" | ", or ]" | ", or }" | "end";

const [quote, backslash, comma, colon, openList, closeList, openMap, closeMap] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const partOfNumber = /-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?/y;
const words = ["true", "false", "null"];
// `unit` matches up to four hex digits of an escape. `lowHalf` matches the escape of a surrogate pair's lower half, or the
// beginning of that escape.
const unit = /[\da-fA-F]{0,4}/y;
const lowHalf = /(?:\\(?:u(?:[dD](?:[c-fC-F][\da-fA-F]{0,2})?)?)?)?/y;

/**
 * Throws `too-deep` if JSON is nested deeper than `depthMax`, and `too-large` if it has more than `valuesMax` values. Every
 * opening bracket, comma and colon counts as one value. This counts a key and its value as two, and an empty list or object as
 * one more. JSON with fewer bytes than both limits is not scanned. Engines parse JSON of any depth, but code that then walks the
 * value recursively overflows the stack.
 */
export function checkNesting(bytes: Uint8Array, depthMax: number, valuesMax: number): void {
  if (bytes.length <= Math.min(depthMax, valuesMax)) return;
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openList || byte === openMap) {
      if (depth === depthMax) throw codecError("too-deep", `values are nested deeper than ${depthMax}`, at);
      depth++;
      if (++values > valuesMax) throw tooMany(valuesMax, at);
    } else if (byte === closeList || byte === closeMap) depth--;
    else if ((byte === comma || byte === colon) && ++values > valuesMax) throw tooMany(valuesMax, at);
  }
}

const tooMany = (valuesMax: number, at: number): CodecError =>
  codecError("too-large", `more than ${valuesMax} values`, at);

/**
 * Finds the first error in JSON that the engine's parser refused. Engines report the wrong byte in different ways, or not at all. Returns
 * undefined if the JSON has no error. The offset of the returned error depends on its code:
 *
 * - `malformed`: the first byte that cannot continue a JSON text.
 * - `truncated`: the end of the bytes.
 * - `trailing-bytes`: the first byte after the value, white space excepted.
 * - `bad-utf8`: an ill-formed sequence in a string, or the escape of half of a surrogate pair.
 * - `too-deep`: the opening bracket that is nested too deep.
 */
export function jsonError(bytes: Uint8Array, depthMax: number, cause?: unknown): CodecError | undefined {
  const found = new Scan(bytes, depthMax).run();
  return found && codecError(found[0], "not a JSON text", found[1], cause);
}

class Scan {
  readonly #text: string;
  /** Offset of the first ill-formed UTF-8 sequence, or the length of the bytes. */
  readonly #valid: number;
  #at = 0;

  constructor(
    readonly bytes: Uint8Array,
    readonly depthMax: number,
  ) {
    // One character per byte, so that positions in the text are byte offsets. This slow scan runs only after an error and for
    // escaped surrogates.
    let text = "";
    for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
    this.#text = text;
    this.#valid = validUntil(bytes, 0, bytes.length);
  }

  run(): readonly [CodecErrorCode, number] | undefined {
    const open: ("]" | "}")[] = [];
    let wanted: Wanted = "value";
    for (;;) {
      while (" \t\n\r".includes(this.#text[this.#at] ?? "-")) this.#at++;
      const byte = this.bytes[this.#at];
      if (wanted === "end") return byte === undefined ? undefined : ["trailing-bytes", this.#at];
      if (byte === undefined) return ["truncated", this.#at];
      const closing = byte === closeList || byte === closeMap;
      if (closing && wanted.endsWith(String.fromCharCode(byte))) {
        open.pop();
        this.#at++;
        wanted = after(open);
      } else if (byte === colon && wanted === ":") {
        this.#at++;
        wanted = "value";
      } else if (byte === comma && wanted.startsWith(",")) {
        this.#at++;
        wanted = wanted === ", or ]" ? "value" : "key";
      } else if (wanted.startsWith("key")) {
        const wrong: Wrong = byte === quote ? this.#string() : ["malformed", this.#at];
        if (wrong) return wrong;
        wanted = ":";
      } else if (wanted.startsWith("value")) {
        if (byte === openList || byte === openMap) {
          if (open.length === this.depthMax) return ["too-deep", this.#at];
          this.#at++;
          open.push(byte === openList ? "]" : "}");
          wanted = byte === openList ? "value or ]" : "key or }";
        } else {
          const wrong = byte === quote ? this.#string() : this.#word();
          if (wrong) return wrong;
          wanted = after(open);
        }
      } else return ["malformed", this.#at];
    }
  }

  /** Skips a string, or returns its first error. */
  #string(): Wrong {
    for (let at = this.#at + 1; at < this.bytes.length; at++) {
      const byte = this.bytes[at]!;
      if (byte < 0x20) return ["malformed", at];
      if (at === this.#valid) return ["bad-utf8", at];
      if (byte === quote) {
        this.#at = at + 1;
        return undefined;
      }
      if (byte !== backslash) continue;
      const escaped = this.#text[at + 1];
      if (escaped === undefined) break;
      if (!'"\\/bfnrtu'.includes(escaped)) return ["malformed", at + 1];
      if (escaped !== "u") {
        at++;
        continue;
      }
      const digits = length(unit, this.#text, at + 2);
      const after = at + 2 + digits;
      if (digits < 4) return this.#cut(after, ["malformed", after]);
      const code = Number.parseInt(this.#text.slice(at + 2, at + 6), 16);
      if (code >= 0xdc00 && code <= 0xdfff) return ["bad-utf8", at];
      if (code >= 0xd800 && code <= 0xdbff) {
        const low = length(lowHalf, this.#text, at + 6);
        if (low < 6) return this.#cut(at + 6 + low, ["bad-utf8", at]);
        at += 6;
      }
      at += 5;
    }
    return ["truncated", this.bytes.length];
  }

  /** Returns `truncated` if `at` is the end of the bytes, else `otherwise`. */
  #cut(at: number, otherwise: Wrong): Wrong {
    return at === this.bytes.length ? ["truncated", at] : otherwise;
  }

  /** Skips a number, `true`, `false` or `null`, or returns the first error. */
  #word(): Wrong {
    const begun = this.#at + length(partOfNumber, this.#text, this.#at);
    if (begun > this.#at) {
      if (this.#at + length(number, this.#text, this.#at) < begun) return this.#cut(begun, ["malformed", begun]);
      this.#at = begun;
      return undefined;
    }
    const word = words.find((each) => each[0] === this.#text[this.#at]);
    if (word === undefined) return ["malformed", this.#at];
    for (const letter of word) {
      if (this.#text[this.#at] !== letter) return this.#cut(this.#at, ["malformed", this.#at]);
      this.#at++;
    }
    return undefined;
  }
}

function after(open: readonly ("]" | "}")[]): Wanted {
  const closing = open.at(-1);
  return closing === undefined ? "end" : `, or ${closing}`;
}

/** Returns how many characters a sticky pattern matches at `at`. */
function length(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
