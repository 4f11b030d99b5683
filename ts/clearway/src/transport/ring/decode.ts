// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../../error/clearway-error.js";
import { bufferBytes, memoryOf, viewName } from "../../host/structure.js";
import { depthMax, frameHeadWords, Tag } from "./layout.js";

type ViewType = {
  new (buffer: ArrayBuffer): ArrayBufferView;
  readonly name: string;
  prototype: object;
  BYTES_PER_ELEMENT?: number;
};

/** Types of binary memory. The index is the type's number on the wire: add at the end, never renumber. 0 is the buffer itself. */
export const viewTypes: readonly (ViewType | undefined)[] = [
  undefined,
  DataView,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];

const kinds = new Map<object, number>(viewTypes.map((type, kind) => [(type ?? ArrayBuffer).prototype, kind]));

/** Returns the type number for an object's prototype. Returns undefined if the object is not plain binary memory of this realm. */
export function kindOf(prototype: object): number | undefined {
  return kinds.get(prototype);
}

/**
 * Returns the buffer of a value that covers the whole buffer.
 *
 * Returns undefined for a view of a part of a buffer, because structured clone would copy the whole buffer. Also returns undefined for
 * shared, resizable, detached and empty memory, and for a view that was made as one of another type.
 */
export function wholeBuffer(value: ArrayBuffer | ArrayBufferView, kind: number): ArrayBuffer | undefined {
  const view = ArrayBuffer.isView(value) ? memoryOf(value) : undefined;
  const buffer = view ? view.buffer : value;
  const type = viewTypes[kind] ?? ArrayBuffer;
  if (Object.getPrototypeOf(buffer) !== ArrayBuffer.prototype || (buffer as { resizable?: boolean }).resizable) {
    return undefined;
  }
  const bytes = bufferBytes(buffer);
  if (!bytes || (view && (view.byteLength !== bytes || viewName(value as ArrayBufferView) !== type.name)))
    return undefined;
  return buffer as ArrayBuffer;
}

/** Maximum length of a text that the decoder keeps for later frames. */
const knownLengthMax = 32;

/**
 * Decodes frames from private memory. The memory may hold any bytes.
 *
 * Checks every length before it allocates. Decoding therefore returns a value or throws `protocol`, and it never allocates more than the
 * frame's length justifies.
 */
export class Decoder {
  /** Bytes of binary memory decoded so far in this frame. */
  binaryBytes = 0;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #units: Uint16Array;
  readonly #double = new Float64Array(1);
  readonly #halves = new Int32Array(this.#double.buffer);
  /** Recently decoded short texts, indexed by a hash of their characters. Messages often repeat keys and short values. */
  readonly #known: (string | undefined)[] = new Array(256).fill(undefined);
  #at = 0;
  #end = 0;

  /** Decodes from these words and does not trust them. No code may change the words while a frame is decoded. */
  constructor(words: Int32Array) {
    this.#words = words;
    this.#bytes = new Uint8Array(words.buffer);
    this.#units = new Uint16Array(words.buffer);
  }

  /** Starts to decode a frame of `count` words. The frame is at the start of the decoder's words. Call `value` twice after this. */
  open(count: number): void {
    this.binaryBytes = 0;
    this.#at = frameHeadWords;
    this.#end = count;
  }

  /** Returns the frame's next value. */
  value(): unknown {
    return this.#value(0);
  }

  /** Throws if the frame has words that were not decoded. */
  close(): void {
    if (this.#at !== this.#end) throw malformedFrame("words left over", this.#end - this.#at);
  }

  #value(depth: number): unknown {
    const word = this.#words[this.#takeWords(1)]!;
    switch (word & 0xff) {
      case Tag.undefined:
        return undefined;
      case Tag.null:
        return null;
      case Tag.false:
        return false;
      case Tag.true:
        return true;
      case Tag.small:
        return word >> 8;
      case Tag.int32:
        return this.#words[this.#takeWords(1)];
      case Tag.float64: {
        const at = this.#takeWords(2);
        this.#halves[0] = this.#words[at]!;
        this.#halves[1] = this.#words[at + 1]!;
        return this.#double[0];
      }
      case Tag.latin1:
        return this.#latin1(word >>> 8);
      case Tag.utf16:
        return this.#utf16(word >>> 8);
      case Tag.array:
        return this.#array(word >>> 8, depth + 1);
      case Tag.object:
        return this.#object(word >>> 8, depth + 1);
      case Tag.binary:
        return this.#memory((word >>> 8) & 0xff, word >>> 16);
      default:
        throw malformedFrame("tag", word & 0xff);
    }
  }

  // Takes words and returns the index of the first. Throws if the frame has fewer words, so a false length never allocates memory.
  #takeWords(words: number): number {
    const at = this.#at;
    if (words > this.#end - at) throw malformedFrame("words missing", words);
    this.#at = at + words;
    return at;
  }

  #utf16(length: number): string {
    const from = this.#takeWords((length + 1) >> 1) * 2;
    return String.fromCharCode.apply(null, this.#units.subarray(from, from + length) as unknown as number[]);
  }

  // Finds a short text among the last ones. That takes 20 ns; to make a text takes over 100.
  #latin1(length: number): string {
    const from = this.#takeWords((length + 3) >> 2) * 4;
    const bytes = this.#bytes;
    if (length > knownLengthMax)
      return String.fromCharCode.apply(null, bytes.subarray(from, from + length) as unknown as number[]);
    let hash = length;
    for (let each = 0; each < length; each++) hash = (Math.imul(hash, 31) + bytes[from + each]!) | 0;
    const known = this.#known[hash & 0xff];
    if (known !== undefined && known.length === length) {
      let same = 0;
      while (same < length && known.charCodeAt(same) === bytes[from + same]) same++;
      if (same === length) return known;
    }
    const text = String.fromCharCode.apply(null, bytes.subarray(from, from + length) as unknown as number[]);
    this.#known[hash & 0xff] = text;
    return text;
  }

  #array(length: number, depth: number): unknown[] {
    this.#checkNesting(length, depth);
    const array: unknown[] = [];
    for (let each = 0; each < length; each++) array.push(this.#value(depth));
    return array;
  }

  #object(length: number, depth: number): object {
    this.#checkNesting(length * 2, depth);
    const object: Record<string, unknown> = {};
    for (let each = 0; each < length; each++) {
      const key = this.#key();
      const value = this.#value(depth);
      // A plain `=` would run a setter of Object.prototype, or one that a page has added there.
      if (key in object)
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      else object[key] = value;
    }
    return object;
  }

  // Throws if a count or the depth is too large. Each value takes at least one word, so a count above the remaining words is false.
  #checkNesting(words: number, depth: number): void {
    if (words > this.#end - this.#at) throw malformedFrame("words missing", words);
    if (depth > depthMax + 1) throw malformedFrame("depth", depth);
  }

  #key(): string {
    const word = this.#words[this.#takeWords(1)]!;
    const tag = word & 0xff;
    if (tag !== Tag.latin1 && tag !== Tag.utf16) throw malformedFrame("tag of a key", tag);
    const key = tag === Tag.latin1 ? this.#latin1(word >>> 8) : this.#utf16(word >>> 8);
    if (key === "__proto__") throw malformedFrame("key", 0);
    return key;
  }

  #memory(kind: number, byteLength: number): ArrayBuffer | ArrayBufferView {
    const from = this.#takeWords((byteLength + 3) >> 2) * 4;
    const Type = viewTypes[kind];
    if (kind >= viewTypes.length || byteLength % (Type?.BYTES_PER_ELEMENT ?? 1) !== 0)
      throw malformedFrame("memory of kind", kind);
    this.binaryBytes += byteLength;
    const bytes = this.#bytes.slice(from, from + byteLength);
    return Type === undefined ? bytes.buffer : Type === Uint8Array ? bytes : new Type(bytes.buffer);
  }
}

function malformedFrame(what: string, value: number): ClearwayError {
  return new ClearwayError("protocol", `a frame in the ring cannot be read: ${what}=${value}`);
}
