// SPDX-License-Identifier: MIT OR Apache-2.0
import { structureOf } from "#host";
import { Structure } from "../../host/structure.js";

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
      // An array with holes or with other properties has another number of keys.
      const { length } = value;
      nodes += length;
      if (nodes > nodesMax || Object.keys(value).length !== length) return refused;
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
