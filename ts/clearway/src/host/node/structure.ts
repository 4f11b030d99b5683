// SPDX-License-Identifier: MIT OR Apache-2.0
import { types } from "node:util";
import { isOfHost, Structure, slotTag } from "../structure.js";
import { tagOf } from "../tag.js";

/** Returns how structured clone copies an object. Runs no code of the app. */
export function structureOf(value: object): Structure {
  // The traps of a proxy are foreign code, and structured clone refuses it.
  if (types.isProxy(value)) return Structure.whole;
  if (Array.isArray(value)) return Structure.array;
  if (ArrayBuffer.isView(value)) return Structure.view;
  if (types.isMap(value)) return Structure.map;
  if (types.isSet(value)) return Structure.set;
  if (types.isAnyArrayBuffer(value)) return types.isSharedArrayBuffer(value) ? Structure.shared : Structure.buffer;
  const prototype: object | null = Object.getPrototypeOf(value);
  const tag = slotTag(value);
  if (tag === "Object" && (prototype === Object.prototype || prototype === null)) return Structure.properties;
  if (isOfNode(prototype)) return Structure.whole;
  if (types.isNativeError(value)) return Structure.error;
  if (tag === undefined ? hasOtherSlots(value) : tag !== "Object") return Structure.whole;
  return Structure.properties;
}

function hasOtherSlots(value: object): boolean {
  return (
    types.isDate(value) || types.isRegExp(value) || types.isBoxedPrimitive(value) || types.isArgumentsObject(value)
  );
}

/** Returns whether an object with the tag "Object" is a map, a set or a buffer. */
export function hasHiddenSlots(value: object, _keys: number): boolean {
  return types.isMap(value) || types.isSet(value) || types.isAnyArrayBuffer(value);
}

/** Returns whether only `postMessage` copies or moves instances of this prototype, or nothing does. */
export function isOfNode(prototype: object | null): boolean {
  return isOfHost(prototype, isMarked);
}

// Node marks the prototypes of its classes whose instances only `postMessage` copies or moves. An error of the DOM has no such mark.
function isMarked(prototype: object): boolean {
  return (
    tagOf(prototype) === "DOMException" ||
    Object.getOwnPropertySymbols(prototype).some(({ description }) => description?.startsWith("messaging_"))
  );
}
