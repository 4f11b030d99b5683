// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../error/clearway-error.js";
import { depthMax } from "../error/depth-max.js";
import { messageOf } from "../error/message-of.js";
import { tagOf } from "../host/tag.js";
import { compact } from "../transfer/compact.js";
import { isMap, isSet } from "../transfer/find-memory.js";
import { isTable } from "../transfer/revive.js";
import type { Part } from "./message.js";
import type { Registered, Registry } from "./registry.js";

/** A value whose handled instances were replaced. */
export interface Encoded {
  /** A copy of the value, with an empty object in place of each handled instance. */
  readonly root: unknown;
  /** The handled instances. An instance comes after those in its own wire value. */
  readonly parts: readonly Part[];
  /** The objects that the handlers move. */
  readonly transfer: object[];
}

/**
 * Replaces the handled instances in a value, at any depth. Returns undefined if there are none. Does not change the value.
 *
 * Visits every object in the value once. Throws `not-cloneable` if a handler throws, returns something else than a value and a list, or
 * returns a value that contains the instance itself.
 */
export function encode(value: unknown, registry: Registry): Encoded | undefined {
  const encoding = new Encoding(registry);
  const root = encoding.encode(value, 0);
  return encoding.parts.length === 0 ? undefined : { root, parts: encoding.parts, transfer: [...encoding.transfer] };
}

class Encoding {
  readonly parts: Part[] = [];
  readonly transfer = new Set<object>();
  readonly #registry: Registry;
  /** The objects in place of the handled instances. */
  readonly #places = new Map<object, object>();
  /** Instances whose wire value is being encoded. */
  readonly #open = new Set<object>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  encode(root: unknown, depth: number): unknown {
    if (root === null || typeof root !== "object") return root;
    let some = false;
    const nodes = new Set<object>([root]);
    for (const node of nodes) {
      if (this.#places.has(node)) {
        some = true;
        continue;
      }
      const handler = this.#handlerOf(node);
      if (handler === undefined) addChildren(node, nodes);
      else {
        some = true;
        this.#serialize(node, handler, depth);
      }
    }
    return some ? compact(root, this.#places) : root;
  }

  #handlerOf(node: object): Registered | undefined {
    try {
      return this.#registry.handlerOf(node);
    } catch (reason) {
      throw caused("not-cloneable", `a transfer handler's canHandle() failed: ${messageOf(reason)}`, reason);
    }
  }

  #serialize(instance: object, handler: Registered, depth: number): void {
    if (this.#open.has(instance)) throw broken(handler, "returned a value that contains the instance itself");
    if (depth >= depthMax) throw broken(handler, `returned instances that are nested more than ${depthMax} deep`);
    this.#open.add(instance);
    const [wire, transfer] = serialized(instance, handler);
    for (const object of transfer) this.transfer.add(object);
    const inner = this.encode(wire, depth + 1);
    this.#open.delete(instance);
    const place = {};
    this.#places.set(instance, place);
    this.parts.push([place, handler.name, inner]);
  }
}

function serialized(instance: object, handler: Registered): [wire: unknown, transfer: object[]] {
  let result: unknown;
  let wire: unknown;
  let transfer: unknown[];
  try {
    result = handler.serialize(instance);
    if (!Array.isArray(result) || !Array.isArray(result[1])) throw new TypeError("it must return [value, transfer]");
    wire = result[0];
    transfer = [...result[1]];
  } catch (reason) {
    throw broken(handler, `failed: ${messageOf(reason)}`, reason);
  }
  if (wire === instance) throw broken(handler, "returned the instance itself");
  if (!transfer.every((each) => Object(each) === each))
    throw broken(handler, "returned a list with something to move that is no object");
  return [wire, transfer as object[]];
}

function broken({ name }: Registered, how: string, cause?: unknown): ClearwayError {
  return caused("not-cloneable", `the serialize() of the transfer handler "${name}" ${how}`, cause);
}

function addChildren(node: object, nodes: Set<object>): void {
  const add = (value: unknown): void => {
    if (value !== null && typeof value === "object") nodes.add(value);
  };
  if (ArrayBuffer.isView(node)) return;
  if (isMap(node)) {
    for (const [key, value] of node) {
      add(key);
      add(value);
    }
  } else if (isSet(node) || Array.isArray(node)) for (const value of node) add(value);
  else if (tagOf(node) === "Object" && !isTable(node)) for (const value of Object.values(node)) add(value);
}
