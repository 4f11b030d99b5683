// SPDX-License-Identifier: MIT OR Apache-2.0
import { structuredClone } from "../globals.js";

/**
 * How structured clone copies an object. Its internal slots decide. A class, a prototype or a string tag says nothing: the app can change
 * each of them.
 */
export enum Structure {
  /** The own enumerable properties, without the class. */
  properties = 0,
  array = 1,
  map = 2,
  set = 3,
  /** An error: name, message, stack and cause. */
  error = 4,
  view = 5,
  buffer = 6,
  shared = 7,
  /** As a whole, or not at all: dates, objects of the host, proxies. */
  whole = 8,
}

// The slots of these classes identify them. The prototype of an object only looks like one of them.
const identified = ["Object", "Array", "Map", "Set", "Error", "AggregateError", "Date", "RegExp"];
const known = /* @__PURE__ */ new WeakMap<object, boolean>();

/**
 * Returns whether the host made a class of this prototype, or one above it, whose instances have slots that JavaScript cannot read: a
 * Promise, a Blob, an Intl.Collator. Such instances are never copied as plain objects. `isMarked` finds the host's classes that are written
 * in JavaScript. Runs no code of the app, except traps.
 */
export function isOfHost(prototype: object | null, isMarked?: (prototype: object) => boolean): boolean {
  if (prototype === null) return false;
  let found = known.get(prototype);
  if (found === undefined) {
    const type: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
    found =
      isMarked?.(prototype) ||
      // A bound function, which an app may name as its class, looks native and has no prototype.
      (typeof type === "function" && type.prototype === prototype && isNative(type)) ||
      isOfHost(Object.getPrototypeOf(prototype), isMarked);
    known.set(prototype, found);
  }
  return found;
}

// Slots also identify errors and binary memory.
function isNative(type: { readonly name: string }): boolean {
  const name: unknown = Object.getOwnPropertyDescriptor(type, "name")?.value;
  if (typeof name === "string" && (identified.includes(name) || /Error$|Array$|ArrayBuffer$|^DataView$/.test(name)))
    return false;
  // ECMAScript fixes the text but for its white space: V8 writes one line, the other engines three.
  return /\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(type));
}

/**
 * Returns whether structured clone copies the properties of an object whose prototype is of the host, as it does with
 * `Object.create(Promise.prototype)`. False if no property can hold memory. May run getters.
 */
export function hasOnlyPrototype(value: object): boolean {
  const mayHold = ({ enumerable, get, value }: PropertyDescriptor): boolean =>
    enumerable === true && (get !== undefined || (typeof value === "object" && value !== null));
  if (!Object.values(Object.getOwnPropertyDescriptors(value)).some(mayHold)) return false;
  try {
    return Object.getPrototypeOf(structuredClone(value)) === Object.prototype;
  } catch {
    return false;
  }
}

const refused = /* @__PURE__ */ new WeakMap<object, boolean>();

/**
 * Returns whether structured clone refuses an object without properties, such as an iterator or Node's `Headers`. A copy of its properties would
 * hide that. Objects of one prototype have one answer, because each question costs a clone.
 */
export function isRefused(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || Object.keys(value).length > 0) return false;
  let found = refused.get(prototype);
  if (found === undefined) {
    try {
      structuredClone(value);
      found = false;
    } catch {
      found = true;
    }
    refused.set(prototype, found);
  }
  return found;
}

/** Returns the tag that an object's slots give it, such as "Date", or undefined if the object or its class says another one. */
export function slotTag(value: object): string | undefined {
  return Symbol.toStringTag in value ? undefined : Object.prototype.toString.call(value).slice(8, -1);
}

/**
 * Returns how structured clone copies an object, where the host has no better test. Each test of a slot throws for all other objects,
 * which is slow. An object with properties and without a string tag is therefore not tested for a hidden map, set or buffer.
 */
export function structureBySlots(value: object): Structure {
  if (Array.isArray(value)) return Structure.array;
  if (ArrayBuffer.isView(value)) return Structure.view;
  const tag = slotTag(value);
  if (tag === "Error") return Structure.error;
  if (tag !== undefined && tag !== "Object") return Structure.whole;
  const keys = Object.keys(value).length;
  if (tag === undefined || hasHiddenSlots(value, keys)) {
    const found = slots.find(([, type, getter]) => value instanceof type && hasSlot(type.prototype, getter, value));
    const [structure] = found ?? slots.find(([, { prototype }, getter]) => hasSlot(prototype, getter, value)) ?? [];
    if (structure !== undefined) return structure;
    if (tag === undefined && value instanceof Error && !(value instanceof DOMException)) return Structure.error;
  }
  if (isOfHost(Object.getPrototypeOf(value))) return hasOnlyPrototype(value) ? Structure.properties : Structure.whole;
  return keys === 0 && isRefused(value) ? Structure.whole : Structure.properties;
}

type Slot = [
  structure: Structure,
  type: { new (...args: never[]): object; readonly prototype: object },
  getter: string,
];

const slots: readonly Slot[] = /* @__PURE__ */ (
  [
    [Structure.map, Map, "size"],
    [Structure.set, Set, "size"],
    [Structure.buffer, ArrayBuffer, "byteLength"],
  ] as Slot[]
).concat(typeof SharedArrayBuffer === "function" ? [[Structure.shared, SharedArrayBuffer, "byteLength"]] : []);

/**
 * Returns whether an object with the tag "Object" and `keys` properties is something else. A clone of an empty object is cheap, runs no code
 * of the app, and shows what it is.
 */
export function hasHiddenSlots(value: object, keys: number): boolean {
  if (keys > 0) return false;
  try {
    return Object.getPrototypeOf(structuredClone(value)) !== Object.prototype;
  } catch {
    // Structured clone refuses it. The post of the value reports that.
    return true;
  }
}

function hasSlot(prototype: object, getter: string, value: object): boolean {
  try {
    Reflect.get(prototype, getter, value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the string tag of an object, such as "Map", for objects of any realm. `instanceof` does not recognise objects of an iframe, a
 * `vm` context or a test runner, because their classes belong to another realm.
 */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Returns whether the value is an ArrayBuffer, of any realm. May run a getter of the value. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}

/**
 * Returns the size in bytes of an ArrayBuffer of any realm, and undefined for any other value. Runs no code of the value, unlike
 * {@link isBuffer}, but is slow for other values.
 */
export function bufferBytes(value: unknown): number | undefined {
  try {
    // Runs the getter of every buffer with this value as `this`. It throws for all other values.
    return Reflect.get(ArrayBuffer.prototype, "byteLength", value);
  } catch {
    return;
  }
}

/** Returns the total size in bytes of the buffers among these objects. */
export function totalBufferBytes(objects: readonly object[]): number {
  return objects.reduce((sum, each) => sum + (bufferBytes(each) ?? 0), 0);
}

const typedArray = /* @__PURE__ */ Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Returns the class that a view had when it was made, such as "Uint8Array". Reads the view's slots. */
export function viewName(view: ArrayBufferView): string {
  return Reflect.get(typedArray, Symbol.toStringTag, view) ?? "DataView";
}

/**
 * Returns the memory that a view shows, by the view's slots. Its properties may say something else: an app can define a property of any
 * name. Throws a TypeError for a DataView whose memory was moved away.
 */
export function memoryOf(view: ArrayBufferView): { buffer: ArrayBufferLike; byteOffset: number; byteLength: number } {
  const prototype = Reflect.get(typedArray, Symbol.toStringTag, view) === undefined ? DataView.prototype : typedArray;
  return {
    buffer: Reflect.get(prototype, "buffer", view),
    byteOffset: Reflect.get(prototype, "byteOffset", view),
    byteLength: Reflect.get(prototype, "byteLength", view),
  };
}
