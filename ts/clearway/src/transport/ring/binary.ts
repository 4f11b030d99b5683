// SPDX-License-Identifier: MIT OR Apache-2.0
import { bufferBytes, memoryOf, viewName } from "../../host/tag.js";

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
