// SPDX-License-Identifier: MIT OR Apache-2.0
import { structureOf } from "#host";
import { define } from "../error/clearway-error.js";
import { depthMax, tooDeep } from "../error/depth.js";
import { structuredClone } from "../globals.js";
import { Structure } from "../host/structure.js";

/** What a walk reports besides the copy. `nodes` is the number of properties, elements and entries that were read before. */
export interface FoundObjects {
  /** A view, or a buffer without a view. */
  memory(object: ArrayBufferView | ArrayBufferLike, nodes: number): void;
  /** An object that structured clone copies or moves as a whole, or refuses. */
  whole(object: object, nodes: number): void;
}

/**
 * Number of levels of objects after which a copy stops. Callers wrap values in a few levels of their own. Further levels would cost much
 * more than their properties: an error formats its stack when that is read, and 50,000 of them take seconds.
 */
const levelsMax = depthMax + 10;

/**
 * Copies a value as far as structured clone reads it: objects, arrays, maps, sets, and errors with a cause. All other objects stay as they
 * are, such as dates, memory and objects of the host. A structured clone of the copy is the same as one of the value.
 *
 * Reads each property once, so a getter of the app runs once; throws what it throws. Throws `not-cloneable` if the value has more than
 * `levelsMax` levels, and reads nothing below them. Does not change the value, and visits each object once. The time depends on the properties that exist, and not on the length of an array.
 */
export class ValueCopy {
  /** Whether the value may be nested too deep for the other side to read. */
  deep = false;
  readonly #found: FoundObjects | undefined;
  readonly #replace: ((object: object) => object | undefined) | undefined;
  readonly #shared: Map<object, object> | undefined;
  /** The copy of each object. An object that is not copied stands for itself. */
  readonly #known = new Map<object, object>();
  /** The copies whose contents are replaced by their copies, in the order of the levels. */
  readonly #containers: object[] = [];
  #references = 0;
  /** Number of properties, elements and entries that were read. Until the end, without those of objects without objects inside. */
  nodes = 0;
  #leafNodes = 0;
  /** Number of characters in the texts that were read. */
  characters = 0;
  /** The objects in the copy that occur more than once in it. */
  readonly repeated = new Set<object>();
  /** The objects that structured clone copies or moves as a whole. */
  readonly kept = new Set<object>();

  /**
   * `replace` returns another object for one that must not be copied, or undefined. Copies that have `shared` in common copy an object in
   * several of their values once.
   */
  constructor(found?: FoundObjects, replace?: (object: object) => object | undefined, shared?: Map<object, object>) {
    this.#found = found;
    this.#replace = replace;
    this.#shared = shared;
  }

  /** Returns the copy. `shell` is a copy of the object `root` that still has the contents of the original. */
  copy(root: unknown, shell?: object): unknown {
    if (shell !== undefined) {
      this.nodes = this.#references = 1;
      this.#contain(root as object, shell);
    }
    const result = shell ?? this.#visit(root);
    const containers = this.#containers;
    let level = 0;
    let levelEnd = 0;
    for (let at = 0; at < containers.length; at++) {
      if (at === levelEnd) {
        if (level++ === levelsMax) throw tooDeep();
        levelEnd = containers.length;
      }
      this.#relink(containers[at]!, this.#visit);
    }
    this.nodes += this.#leafNodes;
    // If no object was met twice, the number of levels is the depth. Otherwise a longer path may exist.
    const objects = this.#known.size;
    // An object without objects inside may be one level below.
    this.deep = objects > depthMax && (level + 1 >= depthMax || this.#references > objects);
    return result;
  }

  /** Puts other objects in the place of some objects in the copy. */
  substitute(others: ReadonlyMap<object, object>): void {
    const visit = (value: unknown): unknown => others.get(value as object) ?? value;
    for (const container of this.#containers) this.#relink(container, visit);
    if (this.#shared) for (const [object, other] of others) this.#shared.set(object, other);
  }

  readonly #visit = (value: unknown): unknown => {
    this.nodes++;
    if (typeof value === "string") this.characters += value.length;
    if (value === null || typeof value !== "object") return value;
    this.#references++;
    const known = this.#known.get(value);
    if (known !== undefined) {
      this.repeated.add(known);
      return known;
    }
    const other = this.#replace?.(value);
    if (other !== undefined) {
      this.#known.set(value, other);
      return other;
    }
    const before = this.#shared?.get(value);
    if (before === undefined) return this.#shell(value);
    if (!ArrayBuffer.isView(before)) return this.#contain(value, before);
    this.#found?.memory(before, this.nodes);
    return this.#keep(value, before);
  };

  // Keeps an object that is not copied.
  #keep(value: object, kept = value): object {
    this.kept.add(kept);
    this.#known.set(value, kept);
    return kept;
  }

  // Adds a copy, whose contents are replaced later if it has objects inside.
  #contain(value: object, copy: object, isLeaf = false): object {
    this.#known.set(value, copy);
    if (!isLeaf) this.#containers.push(copy);
    // The copy of another value may contain this copy.
    this.#shared?.set(value, copy).set(copy, copy);
    return copy;
  }

  // Returns whether a copy has no object inside. Then counts what is inside, so that it needs no second visit: most objects of a large value
  // are rows of texts and numbers.
  #isLeaf(copy: object): boolean {
    const values = Object.values(copy);
    let characters = 0;
    for (const value of values) {
      if (typeof value === "string") characters += value.length;
      else if (typeof value === "object" && value !== null) return false;
    }
    this.#leafNodes += values.length;
    this.characters += characters;
    return true;
  }

  // Returns a copy that still has the contents of the original.
  #shell(value: object): object {
    const { nodes } = this;
    let copy: object;
    const structure = structureOf(value);
    switch (structure) {
      case Structure.properties:
        copy = propertiesOf(value);
        break;
      case Structure.array:
        copy = this.#array(value as unknown[]);
        break;
      case Structure.map:
        copy = new Map();
        Map.prototype.forEach.call(value, (each, key) => void (copy as Map<unknown, unknown>).set(key, each));
        break;
      case Structure.set:
        copy = new Set();
        Set.prototype.forEach.call(value, (each) => void (copy as Set<unknown>).add(each));
        break;
      case Structure.error: {
        const cause = causeOf(value);
        // Structured clone itself reads the other properties of an error.
        if (cause === null || typeof cause !== "object") return this.#keep(value);
        copy = errorLike(value as Error, cause);
        break;
      }
      case Structure.whole:
        this.#found?.whole(value, nodes);
        return this.#keep(value);
      default:
        this.#found?.memory(value as ArrayBufferView, nodes);
        return this.#keep(value);
    }
    return this.#contain(value, copy, structure <= Structure.array && this.#isLeaf(copy));
  }

  #array(array: unknown[]): unknown[] {
    // `Object.values` reads what exists, in one fast step: the elements, and then the named properties.
    const values = Object.values(array);
    const { length } = array;
    if (values.length === length && isDense(array, length)) return values;
    const copy: unknown[] = [];
    copy.length = length;
    Object.keys(array).forEach((key, at) => {
      define(copy, key, values[at], true);
    });
    irregular.add(copy);
    return copy;
  }

  #relink(copy: object, visit: (value: unknown) => unknown): void {
    if (copy instanceof Map) {
      const entries = [...copy];
      copy.clear();
      for (const [key, value] of entries) copy.set(visit(key), visit(value));
    } else if (copy instanceof Set) {
      const values = [...copy];
      copy.clear();
      for (const value of values) copy.add(visit(value));
    } else if (copy instanceof Error) define(copy, "cause", visit(copy.cause));
    else if (Array.isArray(copy) && !irregular.has(copy)) {
      for (let at = 0; at < copy.length; at++) copy[at] = visit(copy[at]);
    } else {
      for (const key of Object.keys(copy)) {
        const value: unknown = (copy as Record<string, unknown>)[key];
        const other = visit(value);
        // An own property with a value: no setter runs.
        if (other !== value) (copy as Record<string, unknown>)[key] = other;
      }
    }
  }
}

// The copies of arrays with holes or named properties.
const irregular = /* @__PURE__ */ new WeakSet<object>();

/** Returns whether an array in a copy has holes or named properties. */
export const isIrregular = (array: object): boolean => irregular.has(array);

/** Copies a value, as {@link ValueCopy} does, with other objects in place of some. `replace` returns the other object, or undefined. */
export function copyValue(root: unknown, replace: (object: object) => object | undefined): unknown {
  return new ValueCopy(undefined, replace).copy(root);
}

/** Returns a plain object with the properties that structured clone reads: the enumerable ones, without those that have a symbol as key. */
export function propertiesOf(value: object): object {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const each = (value as Record<string, unknown>)[key];
    // A plain `=` would run a setter of Object.prototype.
    if (key in copy) define(copy, key, each, true);
    else copy[key] = each;
  }
  return copy;
}

function isDense(array: unknown[], length: number): boolean {
  for (let at = 0; at < length; at++) if (!Object.hasOwn(array, at)) return false;
  return true;
}

// Structured clone ignores a cause that is a getter.
function causeOf(error: object): unknown {
  return Object.getOwnPropertyDescriptor(error, "cause")?.value;
}

// Returns an error of which structured clone makes the same copy.
function errorLike(error: Error, cause: unknown): Error {
  let copy: Error | undefined;
  // Firefox keeps the stack inside of an error, where only structured clone itself can write it.
  if (!Object.hasOwn(error, "stack"))
    try {
      copy = structuredClone(error);
    } catch {
      // The cause has something that must move.
    }
  if (copy === undefined) {
    copy = new Error();
    if (Object.hasOwn(error, "message")) define(copy, "message", error.message);
    define(copy, "name", error.name);
    define(copy, "stack", error.stack);
  }
  define(copy, "cause", cause);
  return copy;
}
