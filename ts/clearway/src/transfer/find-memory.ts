// SPDX-License-Identifier: MIT OR Apache-2.0
import { isTransferable, isUntransferable, structureOf } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { bufferBytes, memoryOf, Structure, totalBufferBytes, viewName } from "../host/structure.js";
import { type FoundObjects, propertiesOf, ValueCopy } from "./copy-value.js";
import { Form } from "./crossing.js";

/** The reason why memory was copied instead of moved. */
export type CopyReason =
  /** The memory is in an argument without `move()`. */
  | "argument-not-moved"
  /** The memory is a view of a part of a larger buffer. Moving the buffer would also take memory outside of the view. */
  | "partial-view"
  /** The owner keeps the memory: WebAssembly memory, or Node's buffer pool. */
  | "not-transferable"
  /** A result has at most 512 bytes of memory. Copying them with other frames costs less than a message that moves the memory. */
  | "small"
  /** The memory is under `move(value, transfer)`, and `transfer` does not list it. */
  | "not-listed"
  /** The worker is a child process (`processes: true`). Nothing moves between processes. */
  | "other-process"
  /** The memory is beyond the nodes that the search for memory that moves visits. */
  | "search-limit"
  /**
   * The result would hold the caller's thread for long, and crossed in one message nevertheless, because it has ports, streams, or over 1,000
   * buffers. Its bytes count as 0.
   */
  | "not-sliced";

/** The result of {@link findMemory}. */
export interface FoundMemory {
  /** A copy of the value, with compact copies of the views in `partial`. Runs no code of the app when it is posted. */
  value: unknown;
  /** The objects to transfer, each once. */
  transfer: object[];
  movedBytes: number;
  sharedBytes: number;
  /** Memory that cannot or should not move. */
  copies: { reason: CopyReason; bytes: number }[];
  /** Whether the value may be too deep for the other side to read. `checkDepth` gives the exact answer. */
  deep: boolean;
  /** How the other side reads `value`. */
  form: Form;
  /** The memory of the compact copies. No other code has it. */
  compacted: ArrayBuffer[];
  /** What is known of a value with many nodes. */
  graph: Graph | undefined;
}

/** The form of a value, for the code that cuts it into pieces. */
export interface Graph {
  /** Number of values inside, and 1 for each KiB of text. */
  readonly nodes: number;
  /** The objects that occur more than once. */
  readonly repeated: ReadonlySet<object>;
  /** The objects that are copied or moved as a whole. */
  readonly kept: ReadonlySet<object>;
  /** The views and buffers. */
  readonly memory: readonly object[];
}

// Values with fewer nodes have no graph. They cross in one message.
const graphNodesMin = 1_000;

/**
 * The maximum number of nodes (properties, elements, entries) in which memory is found that moves. Views of a part of a buffer are found
 * everywhere. A search of 10,000 nodes takes a few milliseconds at most (`ts/clearway/bench/search.mjs`). Structured clone of such a value
 * takes several times longer.
 */
export const searchLimit = 10_000;

/** Options of {@link findMemory}. */
export interface SearchOptions {
  /** The objects that will move, and no others. Views of these buffers stay as they are. */
  listed?: readonly object[] | undefined;
  /** The copies of other values that are posted with this one. An object that is in several of them stays one object. */
  shared?: Map<object, object> | undefined;
}

/** Maximum number of properties of an object that `isFlat` accepts. */
const flatMax = 16;

/**
 * Copies a value as structured clone reads it, and finds everything movable in it: buffers under views, ports, streams and bitmaps, at any
 * depth, in the first `limit` nodes. Moves nothing, and does not change the value.
 *
 * A view of a part of a larger buffer is replaced by a view of only those bytes. Structured clone would copy the whole buffer, with the
 * bytes of other code.
 */
export function findMemory(root: unknown, limit: number, { listed, shared }: SearchOptions = {}): FoundMemory {
  const found: FoundMemory = {
    value: root,
    transfer: [],
    movedBytes: 0,
    sharedBytes: 0,
    copies: [],
    deep: false,
    form: Form.plain,
    compacted: [],
    graph: undefined,
  };
  if (root === null || typeof root !== "object") return found;
  if (ArrayBuffer.isView(root) && listed === undefined) {
    // By far the most common result is a view of a whole buffer. For such a view, the search allocates no maps.
    const { buffer, byteLength } = cloneableMemory(root);
    if (bufferBytes(buffer) === byteLength && !isUntransferable(buffer as ArrayBuffer)) {
      found.transfer.push(buffer);
      found.movedBytes = byteLength;
      return found;
    }
  }
  // Messages and rows are often plain objects of a few primitives. The maps of a search would take longer than to send such an object.
  const plain = plainCopy(root, shared);
  if (plain !== undefined && isFlat(plain, Math.min(flatMax, limit))) {
    found.value = plain;
    shared?.set(root, plain).set(plain, plain);
    return found;
  }
  const search = new Search(limit, listed);
  const copy = new ValueCopy(
    search,
    search.listed && ((object) => (search.listed?.has(object) ? object : undefined)),
    shared,
  );
  found.value = copy.copy(root, plain);
  found.deep = copy.deep;
  const compact = search.finish(found);
  if (compact.size > 0) {
    // The value itself may be such a view.
    found.value = compact.get(found.value as object) ?? found.value;
    copy.substitute(compact);
  }
  const nodes = copy.nodes + (copy.characters >>> 10);
  if (nodes >= graphNodesMin && listed === undefined) {
    const { kept, repeated } = copy;
    found.graph = { nodes, kept, repeated, memory: search.objects.map((each) => compact.get(each) ?? each) };
  }
  found.movedBytes = totalBufferBytes(found.transfer);
  return found;
}

/** Returns the map for the copies of several values, or undefined for values with fewer than two objects. */
export function sharedCopies(values: readonly unknown[]): SearchOptions["shared"] {
  let objects = 0;
  for (let at = 0; at < values.length; at++) if (typeof values[at] === "object" && values[at] !== null) objects++;
  return objects > 1 ? new Map() : undefined;
}

// Returns a copy of a plain object, whose contents are still those of the original.
function plainCopy(root: object, shared: SearchOptions["shared"]): object | undefined {
  if (Object.getPrototypeOf(root) !== Object.prototype || structureOf(root) !== Structure.properties) return undefined;
  return shared?.get(root) ?? propertiesOf(root);
}

function isFlat(copy: object, propertiesMax: number): boolean {
  let left = propertiesMax;
  for (const value of Object.values(copy)) {
    if ((typeof value === "object" && value !== null) || --left < 0) return false;
  }
  return true;
}

/** Memory in a value: a buffer, and the views of it. */
interface Memory {
  /** The size of the buffer. Undefined for shared memory. */
  readonly bytes: number | undefined;
  /** Whether the buffer itself or a view of all of it crosses. */
  whole: boolean;
  /** Whether the search met it within its limit. */
  near: boolean;
  /** The views of a part. */
  readonly views: ArrayBufferView[];
}

class Search implements FoundObjects {
  readonly listed: ReadonlySet<object> | undefined;
  /** The views and buffers that were met. */
  readonly objects: object[] = [];
  readonly #limit: number;
  #memory: Map<ArrayBufferLike, Memory> | undefined;
  readonly #others: object[] = [];
  /** The bytes of the memory beyond the limit. Undefined if nothing there could move. */
  #bytesBeyond: number | undefined;

  constructor(limit: number, listed: readonly object[] | undefined) {
    this.#limit = limit;
    this.listed = listed && new Set(listed);
  }

  memory(object: ArrayBufferView | ArrayBufferLike, nodes: number): void {
    const view = ArrayBuffer.isView(object) ? cloneableMemory(object) : undefined;
    const buffer = view ? view.buffer : (object as ArrayBufferLike);
    this.#memory ??= new Map();
    let memory = this.#memory.get(buffer);
    if (memory === undefined) {
      memory = { bytes: bufferBytes(buffer), whole: false, near: nodes - 1 <= this.#limit, views: [] };
      this.#memory.set(buffer, memory);
    }
    this.objects.push(object);
    if (view === undefined || view.byteLength === memory.bytes) memory.whole = true;
    else memory.views.push(object as ArrayBufferView);
  }

  whole(object: object, nodes: number): void {
    if (!isTransferable(object)) return;
    if (nodes - 1 > this.#limit) this.#bytesBeyond ??= 0;
    else this.#others.push(object);
  }

  /** Adds what was found. Returns the compact copies of views. */
  finish(found: FoundMemory): Map<object, ArrayBufferView> {
    if (this.listed === undefined) found.transfer.push(...this.#others);
    const compact = new Map<object, ArrayBufferView>();
    const kept: FoundMemory["copies"] = [];
    for (const [buffer, { bytes, whole, near, views }] of this.#memory ?? []) {
      if (bytes === undefined) {
        found.sharedBytes += buffer.byteLength;
        continue;
      }
      if (this.listed?.has(buffer)) continue;
      const fixed = isUntransferable(buffer as ArrayBuffer);
      if (!whole && (fixed || !coverBuffer(views, bytes))) {
        let shown = 0;
        for (const view of views) {
          const copy = compactView(view);
          shown += copy.byteLength;
          compact.set(view, copy);
          found.compacted.push(copy.buffer as ArrayBuffer);
        }
        found.copies.push({ reason: "partial-view", bytes: shown });
      } else if (this.listed) {
        if (bytes > 0) kept.push({ reason: "not-listed", bytes });
      } else if (near && fixed) kept.push({ reason: "not-transferable", bytes });
      else if (near) found.transfer.push(buffer);
      else this.#bytesBeyond = (this.#bytesBeyond ?? 0) + bytes;
    }
    found.copies.push(...kept);
    if (!this.listed && this.#bytesBeyond !== undefined)
      found.copies.push({ reason: "search-limit", bytes: this.#bytesBeyond });
    return compact;
  }
}

const typedArrayValues = /* @__PURE__ */ (() => Object.getPrototypeOf(Uint8Array.prototype).values as () => unknown)();

// Returns the memory that a view shows. Throws `not-cloneable` for a view that lies outside of its buffer, which was made smaller: structured
// clone refuses it, too.
function cloneableMemory(view: ArrayBufferView): ReturnType<typeof memoryOf> {
  try {
    const memory = memoryOf(view);
    // The size of such a typed array is 0, and only its methods tell it from an empty one. A DataView has already thrown.
    if (memory.byteLength === 0 && (bufferBytes(memory.buffer) ?? 0) > 0 && viewName(view) !== "DataView")
      typedArrayValues.call(view);
    return memory;
  } catch {
    throw new ClearwayError("not-cloneable", `a ${viewName(view)} outside of its buffer could not be cloned`);
  }
}

// Returns whether the views together cover the whole buffer. The views may overlap.
function coverBuffer(views: readonly ArrayBufferView[], bytes: number): boolean {
  let end = 0;
  for (const { byteOffset, byteLength } of views.map(memoryOf).sort((a, b) => a.byteOffset - b.byteOffset)) {
    if (byteOffset <= end) end = Math.max(end, byteOffset + byteLength);
  }
  return end === bytes;
}

/** Copies only the bytes of a partial view. Structured clone would copy the *whole* buffer. */
export function compactView(view: ArrayBufferView): ArrayBufferView {
  const { buffer, byteOffset, byteLength } = memoryOf(view);
  const bytes = new Uint8Array(byteLength);
  bytes.set(new Uint8Array(buffer, byteOffset, byteLength));
  const Type = (globalThis as unknown as Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>)[viewName(view)];
  return Type === undefined ? bytes : new Type(bytes.buffer);
}
