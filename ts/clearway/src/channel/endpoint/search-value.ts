// SPDX-License-Identifier: MIT OR Apache-2.0
import { isTransferable, structureOf } from "#host";
import { Structure } from "../../host/structure.js";
import { Float64 } from "../codec/tags.js";

/** What a value contains. Each object is in a list once. */
export interface FoundInValue {
  /** Size of the value as an estimate, with its binary memory, in bytes. */
  bytes: number;
  /** The number of properties, elements and entries, with the value itself. */
  nodes: number;
  objects: number;
  views: ArrayBufferView[];
  /** Buffers that the value holds without a view. */
  buffers: ArrayBufferLike[];
  /** Ports, streams and bitmaps. */
  transferables: object[];
  hasFloats: boolean;
  /** Whether the value may be too deep for the other end to read. */
  deep: boolean;
}

// Nearly all values are trees of few objects. The first search needs no set, and ends here for any other value.
const treeObjectsMax = 10_000;
const treeDepthMax = 100;
const { hasOwnProperty: hasOwn } = Object.prototype;

/**
 * Finds the memory in a value, at any depth. Reads each property, as structured clone does. Throws what a getter throws. Visits each object
 * once.
 */
export function searchValue(root: unknown): FoundInValue {
  const tree = new Search(false);
  if (tree.run(root)) return tree;
  const graph = new Search(true);
  graph.run(root);
  graph.deep = true;
  return graph;
}

class Search implements FoundInValue {
  bytes = 0;
  nodes = 0;
  objects = 0;
  readonly views: ArrayBufferView[] = [];
  readonly buffers: ArrayBufferLike[] = [];
  readonly transferables: object[] = [];
  hasFloats = false;
  deep = false;
  readonly #seen: Set<object> | undefined;
  #depth = 0;
  /** Whether the value is no small tree. */
  #overflowed = false;

  constructor(withSet: boolean) {
    this.#seen = withSet ? new Set() : undefined;
  }

  /** Returns false if the search without a set has ended early. */
  run(root: unknown): boolean {
    this.#value(root);
    // An iteration over a set includes the entries that its loop adds.
    for (const node of this.#seen ?? []) this.#object(node);
    return !this.#overflowed;
  }

  #value(value: unknown): void {
    this.bytes += nodeBytes;
    this.nodes++;
    if (typeof value === "string") this.bytes += value.length;
    if (typeof value !== "object" || value === null || this.#overflowed) return;
    if (this.#seen) {
      this.#seen.add(value);
      return;
    }
    if (++this.objects > treeObjectsMax || this.#depth >= treeDepthMax) {
      this.#overflowed = true;
      return;
    }
    this.#depth++;
    this.#object(value);
    this.#depth--;
  }

  #object(node: object): void {
    const prototype = Object.getPrototypeOf(node);
    if (prototype === Array.prototype && Array.isArray(node)) {
      // What exists, as structured clone reads it: the elements, which may be few in a long array, and named properties. An iterator of the
      // array's own may never end.
      for (const value of Object.values(node)) this.#value(value);
    } else if (ArrayBuffer.isView(node)) {
      this.bytes += node.byteLength;
      this.views.push(node);
    } else this.#special(node);
  }

  #special(node: object): void {
    if (node instanceof Float64) {
      this.hasFloats = true;
      return;
    }
    switch (structureOf(node)) {
      case Structure.buffer:
      case Structure.shared:
        this.bytes += (node as ArrayBuffer).byteLength;
        this.buffers.push(node as ArrayBuffer);
        return;
      case Structure.map:
        Map.prototype.forEach.call(node, (value, key) => {
          this.#value(key);
          this.#value(value);
        });
        return;
      case Structure.set:
        Set.prototype.forEach.call(node, (value) => this.#value(value));
        return;
      case Structure.error:
        return this.#value((node as Error).cause);
      case Structure.array:
      case Structure.properties:
        return this.#properties(node);
      default:
        if (isTransferable(node)) this.transferables.push(node);
    }
  }

  #properties(node: object): void {
    // Not `Object.keys`: V8 reads the properties of a loop over keys by their place in the object.
    for (const key in node) {
      if (!hasOwn.call(node, key)) continue;
      this.bytes += key.length;
      this.#value((node as Record<string, unknown>)[key]);
    }
  }
}

/**
 * Counts the values in the lists and maps of a value that arrived, as `valuesMax` counts them. Stops above `max`. The value is a result of
 * structured clone, so it has no getters.
 */
export function countValues(root: unknown, max: number): number {
  let count = 0;
  const nodes = new Set<object>();
  const add = (value: unknown): void => {
    if (typeof value === "object" && value !== null) nodes.add(value);
  };
  add(root);
  for (const node of nodes) {
    if (ArrayBuffer.isView(node)) continue;
    const structure = structureOf(node);
    if (structure === Structure.map) {
      const map = node as Map<unknown, unknown>;
      count += map.size * 2;
      if (count <= max)
        for (const [key, value] of map) {
          add(key);
          add(value);
        }
    } else if (structure === Structure.set) {
      const set = node as Set<unknown>;
      count += set.size;
      if (count <= max) for (const value of set) add(value);
    } else if (Array.isArray(node)) {
      count += node.length;
      // By index: an array may have a property `forEach` of its own, which structured clone keeps.
      if (count <= max) for (let at = 0; at < node.length; at++) add(node[at]);
    } else {
      const values = Object.values(node);
      count += values.length * 2;
      values.forEach(add);
    }
    if (count > max) break;
  }
  return count;
}

// A post to a worker takes as long as copying a few hundred properties. Larger values gain little by sharing a message.
export const nodesMax = 64;
export const objectsMax = 16;
/** The number of bytes that a property, an element or a number counts. */
export const nodeBytes = 8;

/**
 * Copies a small value of plain objects, arrays and primitives, as structured clone does. The copy can leave at the end of the tick, whatever
 * the app does with the original. Returns undefined for any other value. Throws what a getter throws.
 */
export function plainCopy(root: object): object | undefined {
  const seen: object[] = [];
  let nodes = 1;
  const copyOf = (value: unknown): unknown => {
    if (typeof value === "function" || typeof value === "symbol") return refused;
    if (typeof value !== "object" || value === null) return value;
    // Structured clone keeps the identity of an object that occurs twice.
    if (seen.length >= objectsMax || seen.includes(value)) return refused;
    seen.push(value);
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Array.prototype && Array.isArray(value)) {
      // `Object.keys` lists indices first. So if there are `length` keys, and the last is the last index, the array has no hole and no other
      // property: one of each would not change the number of keys.
      const { length } = value;
      nodes += length;
      if (nodes > nodesMax) return refused;
      const keys = Object.keys(value);
      if (keys.length !== length || (length > 0 && keys[length - 1] !== String(length - 1))) return refused;
      const copy: unknown[] = [];
      for (let at = 0; at < length; at++) {
        const each = copyOf(value[at]);
        if (each === refused) return refused;
        copy.push(each);
      }
      return copy;
    }
    // A map or a date may have any prototype.
    if (prototype !== Object.prototype || structureOf(value) !== Structure.properties) return refused;
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      if (++nodes > nodesMax || key === "__proto__") return refused;
      const each = copyOf((value as Record<string, unknown>)[key]);
      if (each === refused) return refused;
      copy[key] = each;
    }
    return copy;
  };
  const copy = copyOf(root);
  return copy === refused ? undefined : (copy as object);
}

// Stands for a value that is not copied here.
const refused = Symbol("refused");
