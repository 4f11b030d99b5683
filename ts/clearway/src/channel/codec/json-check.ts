// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CodecErrorCode } from "../../error/codec-codes.js";
import { type CodecError, refusal } from "./refusal.js";

// What follows a value inside of an array or an object, or the value itself, is what the machine waits for.
type Wanted = "value" | "value or ]" | "key or }" | "key" | ":" | ", or ]" | ", or }" | "end";

const [quote, backslash, comma, colon, openList, closeList, openMap, closeMap] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const partOfNumber = /-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?/y;
const words = ["true", "false", "null"];

/**
 * Sees that JSON is not nested too deep. Only looked at when it has enough bytes to be. Throws `too-deep`. Engines parse JSON
 * of any depth, and whoever walks the value then overflows the stack.
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
 * Finds what is wrong with bytes that are UTF-8 and that the engine's parser refused: engines name no byte, and none alike.
 * `malformed` has the first byte with which no JSON text goes on, `truncated` the end, `trailing-bytes` what follows the value.
 */
export function jsonRefusal(bytes: Uint8Array, cause: unknown): CodecError {
  const [code, at] = new Scan(bytes).run();
  return refusal(code, "not a JSON text", at, cause);
}

class Scan {
  readonly #text: string;
  #at = 0;

  constructor(readonly bytes: Uint8Array) {
    // One character a byte, so that positions are offsets. Only on the way to an error.
    let text = "";
    for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
    this.#text = text;
  }

  run(): [CodecErrorCode, number] {
    const open: ("]" | "}")[] = [];
    let wanted: Wanted = "value";
    for (;;) {
      while (" \t\n\r".includes(this.#text[this.#at] ?? "-")) this.#at++;
      const byte = this.bytes[this.#at];
      if (wanted === "end") return ["trailing-bytes", this.#at];
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
        const wrong = byte === quote ? this.#string() : (["malformed", this.#at] as const);
        if (wrong) return [...wrong];
        wanted = ":";
      } else if (wanted.startsWith("value")) {
        if (byte === openList || byte === openMap) {
          this.#at++;
          open.push(byte === openList ? "]" : "}");
          wanted = byte === openList ? "value or ]" : "key or }";
        } else {
          const wrong = byte === quote ? this.#string() : this.#word();
          if (wrong) return [...wrong];
          wanted = after(open);
        }
      } else return ["malformed", this.#at];
    }
  }

  /** Goes over a string, or says what is wrong with it. */
  #string(): readonly [CodecErrorCode, number] | undefined {
    for (let at = this.#at + 1; at < this.bytes.length; at++) {
      const byte = this.bytes[at]!;
      if (byte < 0x20) return ["malformed", at];
      if (byte === quote) {
        this.#at = at + 1;
        return undefined;
      }
      if (byte !== backslash) continue;
      const escaped = this.#text[++at];
      if (escaped === undefined) break;
      if (!'"\\/bfnrtu'.includes(escaped)) return ["malformed", at];
      for (let digits = 0; escaped === "u" && digits < 4; digits++) {
        const digit = this.#text[++at];
        if (digit === undefined) break;
        if (!/[0-9a-fA-F]/.test(digit)) return ["malformed", at];
      }
    }
    return ["truncated", this.bytes.length];
  }

  /** Goes over a number or a word, or says what is wrong with it. */
  #word(): readonly [CodecErrorCode, number] | undefined {
    number.lastIndex = this.#at;
    partOfNumber.lastIndex = this.#at;
    const begun = this.#at + (partOfNumber.exec(this.#text)?.[0].length ?? 0);
    if (begun > this.#at) {
      const whole = number.exec(this.#text)?.[0].length ?? 0;
      if (this.#at + whole < begun) return begun === this.bytes.length ? ["truncated", begun] : ["malformed", begun];
      this.#at = begun;
      return undefined;
    }
    const word = words.find((each) => each[0] === this.#text[this.#at]);
    if (word === undefined) return ["malformed", this.#at];
    for (const letter of word) {
      if (this.#at === this.bytes.length) return ["truncated", this.#at];
      if (this.#text[this.#at] !== letter) return ["malformed", this.#at];
      this.#at++;
    }
    return undefined;
  }
}

function after(open: readonly ("]" | "}")[]): Wanted {
  const closing = open.at(-1);
  return closing === undefined ? "end" : `, or ${closing}`;
}
