// SPDX-License-Identifier: MIT OR Apache-2.0
import { countBytes } from "../fast-path.js";
import { Op } from "../protocol.js";
import { kindOf, wholeBuffer } from "./binary.js";
import { binaryBytesMax, depthMax, frameHeadWords, frameWordsMax, objectsMax, Tag } from "./layout.js";

/**
 * Encodes small frames into private memory. Encoded values arrive exactly as structured clone would deliver them. The encoder leaves all
 * other values to the port: an object that occurs twice, class instances, sparse arrays and arrays with named properties, dates, maps,
 * sets, errors, big integers, symbols, functions, views of a part of a buffer, shared and resizable memory, and everything above the
 * limits in `layout.ts`. It also leaves objects with accessors to the port: an accessor must run only once, and whether the rest fits is
 * known only later.
 *
 * Runs no code of the value's owner, with two exceptions that cannot be detected from outside. A proxy crosses as the object that it
 * presents, while structured clone would throw. An accessor among an array's elements runs again when the frame then goes by port.
 * Allocates keys and descriptors of objects, and nothing else.
 */
export class Encoder {
  /** The frame. Words behind the count that `frame` returned belong to earlier frames. */
  readonly words = new Int32Array(frameWordsMax);
  /** Bytes of binary memory in the last frame. */
  binaryBytes = 0;
  readonly #bytes = new Uint8Array(this.words.buffer);
  readonly #units = new Uint16Array(this.words.buffer);
  readonly #double = new Float64Array(1);
  readonly #halves = new Int32Array(this.#double.buffer);
  #seen: object[] = [];
  #objects = 0;
  #at = 0;
  #binary = false;
  #busy = false;

  /** Encodes a frame. `binary` says whether memory may be copied. Returns the number of words, or 0 when the frame has to go by port. */
  frame(op: Op, id: number, a: unknown, b: unknown, binary: boolean): number {
    // A proxy's traps may send frames of their own. Those go by port.
    if (this.#busy) return 0;
    this.#busy = true;
    this.#at = frameHeadWords;
    this.#binary = binary;
    this.binaryBytes = 0;
    this.#objects = 0;
    let fits: boolean;
    try {
      // The arguments of a call are an array that Clearway created, without named properties or holes.
      fits =
        this.#value(a, 0) &&
        (op === Op.Call && Array.isArray(b)
          ? this.#elements(b, 0)
          : this.#value(b === countBytes ? this.binaryBytes : b, 0));
    } catch {
      // A revoked proxy, or a getter that throws. The port reports the error to the right caller.
      fits = false;
    } finally {
      this.#busy = false;
      if (this.#objects > 0) this.#seen.length = 0;
    }
    if (!fits) return 0;
    const count = this.#at;
    this.words[0] = (count << 8) | op;
    this.words[1] = id;
    return count;
  }

  /** Encodes a mark, which has only a head and a number. */
  mark(number: number): number {
    this.words[0] = (frameHeadWords << 8) | Op.Mark;
    this.words[1] = number;
    return frameHeadWords;
  }

  #value(value: unknown, depth: number): boolean {
    switch (typeof value) {
      case "number":
        return this.#number(value);
      case "string":
        return this.#text(value);
      case "undefined":
        return this.#word(Tag.undefined);
      case "boolean":
        return this.#word(value ? Tag.true : Tag.false);
      case "object":
        return value === null ? this.#word(Tag.null) : this.#object(value, depth);
      default:
        return false;
    }
  }

  #word(word: number): boolean {
    if (this.#at >= frameWordsMax) return false;
    this.words[this.#at++] = word;
    return true;
  }

  #number(value: number): boolean {
    const whole = value | 0;
    if (whole === value && (value !== 0 || 1 / value > 0)) {
      return (whole << 8) >> 8 === whole
        ? this.#word(Tag.small | (whole << 8))
        : this.#word(Tag.int32) && this.#word(whole);
    }
    this.#double[0] = value;
    return this.#word(Tag.float64) && this.#word(this.#halves[0]!) && this.#word(this.#halves[1]!);
  }

  #text(text: string): boolean {
    const { length } = text;
    const from = this.#at + 1;
    const words = (length + 3) >> 2;
    if (from + words > frameWordsMax) return false;
    if (words > 0) this.words[from + words - 1] = 0;
    const bytes = this.#bytes;
    const start = from * 4;
    for (let each = 0; each < length; each++) {
      const unit = text.charCodeAt(each);
      if (unit > 0xff) return this.#wide(text);
      bytes[start + each] = unit;
    }
    this.words[this.#at] = Tag.latin1 | (length << 8);
    this.#at = from + words;
    return true;
  }

  #wide(text: string): boolean {
    const { length } = text;
    const from = this.#at + 1;
    const words = (length + 1) >> 1;
    if (from + words > frameWordsMax) return false;
    this.words[from + words - 1] = 0;
    for (let each = 0; each < length; each++) this.#units[from * 2 + each] = text.charCodeAt(each);
    this.words[this.#at] = Tag.utf16 | (length << 8);
    this.#at = from + words;
    return true;
  }

  #object(value: object, depth: number): boolean {
    if (depth > depthMax || ++this.#objects > objectsMax || this.#seen.includes(value)) return false;
    this.#seen.push(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return this.#properties(value, depth);
    if (prototype === Array.prototype) return Array.isArray(value) && this.#array(value, depth);
    const kind = prototype === null ? undefined : kindOf(prototype as object);
    return kind !== undefined && this.#memory(value as ArrayBuffer | ArrayBufferView, kind);
  }

  #properties(value: object, depth: number): boolean {
    const keys = Object.keys(value);
    if (!this.#word(Tag.object | (keys.length << 8))) return false;
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(value, key);
      // Accessors have no `writable`.
      if (property?.writable === undefined || key === "__proto__") return false;
      if (!this.#text(key) || !this.#value(property.value, depth + 1)) return false;
    }
    return true;
  }

  #array(value: unknown[], depth: number): boolean {
    const { length } = value;
    if (length > frameWordsMax) return false;
    // Indices come first and in order. With as many keys as elements and the last index at the end, all keys are indices.
    const keys = Object.keys(value);
    if (keys.length !== length || (length > 0 && keys[length - 1] !== String(length - 1))) return false;
    return this.#elements(value, depth);
  }

  #elements(value: unknown[], depth: number): boolean {
    const { length } = value;
    if (length > frameWordsMax || !this.#word(Tag.array | (length << 8))) return false;
    for (let each = 0; each < length; each++) if (!this.#value(value[each], depth + 1)) return false;
    return true;
  }

  #memory(value: ArrayBuffer | ArrayBufferView, kind: number): boolean {
    const buffer = this.#binary ? wholeBuffer(value) : undefined;
    if (!buffer) return false;
    if (buffer !== value) {
      // A buffer under two views would arrive as two.
      if (this.#seen.includes(buffer)) return false;
      this.#seen.push(buffer);
    }
    const { byteLength } = buffer;
    this.binaryBytes += byteLength;
    const words = (byteLength + 3) >> 2;
    if (this.binaryBytes > binaryBytesMax || this.#at + 1 + words > frameWordsMax) return false;
    this.words[this.#at++] = Tag.binary | (kind << 8) | (byteLength << 16);
    this.words[this.#at + words - 1] = 0;
    this.#bytes.set(new Uint8Array(buffer), this.#at * 4);
    this.#at += words;
    return true;
  }
}
