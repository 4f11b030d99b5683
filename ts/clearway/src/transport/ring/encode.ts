// SPDX-License-Identifier: MIT OR Apache-2.0
import { hasHiddenSlots } from "#host";
import { slotTag } from "../../host/structure.js";
import { countBytes } from "../port.js";
import { Op } from "../protocol.js";
import { kindOf, wholeBuffer } from "./decode.js";
import { binaryBytesMax, depthMax, frameHeadWords, frameWordsMax, objectsMax, Tag } from "./layout.js";

/**
 * Encodes small frames into private memory. The receiver gets exactly the values that structured clone would give it.
 *
 * The encoder refuses all other values, and the sender then uses the port:
 *
 * - objects that occur twice, class instances, dates, maps, sets, errors and functions, whatever their prototype is
 * - arrays with holes or named properties
 * - big integers and symbols
 * - views of a part of a buffer, and shared or resizable memory
 * - everything above the limits in `layout.ts`
 * - objects with accessors: an accessor must run only once, but structured clone would run it again if the encoder later refused the frame
 *
 * Runs no application code, with two exceptions that it cannot detect. It sends a proxy as the object that the proxy presents, while
 * structured clone would throw. An accessor among an array's elements runs a second time if the frame is then sent through the port.
 *
 * Allocates only the keys and property descriptors of objects.
 */
export class Encoder {
  /** The encoded frame. `frame` returns the number of its words. The words after them belong to earlier frames. */
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
  #mayCopyMemory = false;
  #busy = false;

  /**
   * Encodes a frame. `binary` says whether it may copy memory. Returns the number of words, or 0 if the frame must be sent through the
   * port.
   */
  frame(op: Op, id: number, a: unknown, b: unknown, binary: boolean): number {
    // A proxy's traps may send frames while this frame is encoded. Those frames are sent through the port.
    if (this.#busy) return 0;
    this.#busy = true;
    this.#at = frameHeadWords;
    this.#mayCopyMemory = binary;
    this.binaryBytes = 0;
    this.#objects = 0;
    let fits: boolean;
    try {
      // Clearway creates the array of a call's arguments, so that array has no named properties or holes.
      fits =
        this.#value(a, 0) &&
        (op === Op.Call && Array.isArray(b)
          ? this.#elements(b, 0)
          : this.#value(b === countBytes ? this.binaryBytes : b, 0));
    } catch {
      // A revoked proxy or a throwing getter. The frame is sent through the port, which reports the error to the right caller.
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

  /** Encodes a mark: a head and a message number, without values. Returns the number of words. */
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
      if (unit > 0xff) return this.#utf16(text);
      bytes[start + each] = unit;
    }
    this.words[this.#at] = Tag.latin1 | (length << 8);
    this.#at = from + words;
    return true;
  }

  #utf16(text: string): boolean {
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
    if (prototype === Object.prototype)
      return !ArrayBuffer.isView(value) && slotTag(value) === "Object" && this.#properties(value, depth);
    if (prototype === Array.prototype) return Array.isArray(value) && this.#array(value, depth);
    const kind = prototype === null ? undefined : kindOf(prototype as object);
    return kind !== undefined && this.#memory(value as ArrayBuffer | ArrayBufferView, kind);
  }

  #properties(value: object, depth: number): boolean {
    const keys = Object.keys(value);
    if (hasHiddenSlots(value, keys.length)) return false;
    if (!this.#word(Tag.object | (keys.length << 8))) return false;
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(value, key);
      // The descriptor of an accessor has no `writable`.
      if (property?.writable === undefined || key === "__proto__") return false;
      if (!this.#text(key) || !this.#value(property.value, depth + 1)) return false;
    }
    return true;
  }

  #array(value: unknown[], depth: number): boolean {
    const { length } = value;
    if (length > frameWordsMax) return false;
    // `Object.keys` lists indices first, in order. So if there are `length` keys and the last is `length - 1`, all keys are indices.
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
    const buffer = this.#mayCopyMemory ? wholeBuffer(value, kind) : undefined;
    if (!buffer) return false;
    if (buffer !== value) {
      // Two views of one buffer would arrive as two buffers.
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
