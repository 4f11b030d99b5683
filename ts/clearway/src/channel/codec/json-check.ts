// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CodecErrorCode } from "../../error/codec-codes.js";
import { type CodecError, refusal } from "./codec-error.js";
import { validUntil } from "./utf8.js";

type Wrong = readonly [CodecErrorCode, number] | undefined;
// What follows a value inside of an array or an object, or the value itself, is what the machine waits for.
type Wanted = "value" | "value or ]" | "key or }" | "key" | ":" | ", or ]" | ", or }" | "end";

const [quote, backslash, comma, colon, openList, closeList, openMap, closeMap] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const partOfNumber = /-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?/y;
const words = ["true", "false", "null"];
// An escape's four digits, and the escape of a pair's lower half, as far as they are there.
const unit = /[\da-fA-F]{0,4}/y;
const lowHalf = /(?:\\(?:u(?:[dD](?:[c-fC-F][\da-fA-F]{0,2})?)?)?)?/y;

/**
 * Checks that JSON is not nested too deep, if it has enough bytes to be. Throws `too-deep`. Engines parse JSON of any depth, but code that
 * then walks the value recursively overflows the stack.
 */
export function checkDepth(bytes: Uint8Array, depthMax: number): void {
  if (bytes.length <= depthMax) return;
  let depth = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openList || byte === openMap) {
      if (depth === depthMax) throw refusal("too-deep", `values are nested deeper than ${depthMax}`, at);
      depth++;
    } else if (byte === closeList || byte === closeMap) depth--;
  }
}

/**
 * Finds the first thing that is wrong with JSON that the engine's parser refused: engines name no byte, and none alike.
 * `malformed` has the first byte with which no JSON text goes on, `truncated` the end, `trailing-bytes` what follows the
 * value, `bad-utf8` an ill-formed sequence in a text or the escape of half of a surrogate pair, `too-deep` the bracket.
 * Nothing where nothing is wrong.
 */
export function jsonRefusal(bytes: Uint8Array, depthMax: number, cause?: unknown): CodecError | undefined {
  const found = new Scan(bytes, depthMax).run();
  return found && refusal(found[0], "not a JSON text", found[1], cause);
}

class Scan {
  readonly #text: string;
  /** Where the bytes cease to be UTF-8. */
  readonly #valid: number;
  #at = 0;

  constructor(
    readonly bytes: Uint8Array,
    readonly depthMax: number,
  ) {
    // One character a byte, so that positions are offsets. Only on the way to an error.
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

  /** Goes over a string, or says what is wrong with it. */
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

  /** What is wrong where something is only begun: at the end of the text it is cut short. */
  #cut(at: number, otherwise: Wrong): Wrong {
    return at === this.bytes.length ? ["truncated", at] : otherwise;
  }

  /** Goes over a number or a word, or says what is wrong with it. */
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

/** How many characters a sticky pattern matches at a place. */
function length(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
