// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../error/clearway-error.js";
import { depthMax } from "../error/depth-max.js";
import { messageOf } from "../error/message-of.js";
import { copyValue } from "../transfer/copy-value.js";
import type { HandledContent, Part } from "./message.js";
import type { Registered, Registry } from "./registry.js";

/** A value whose handled instances were replaced. */
export interface Encoded extends HandledContent {
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

  /** Returns a copy of the value with places for instances. */
  encode(root: unknown, depth: number): unknown {
    return copyValue(root, (object) => this.#place(object, depth));
  }

  #place(object: object, depth: number): object | undefined {
    const known = this.#places.get(object);
    if (known !== undefined) return known;
    const handler = this.#handlerOf(object);
    return handler && this.#serialize(object, handler, depth);
  }

  #handlerOf(node: object): Registered | undefined {
    try {
      return this.#registry.handlerOf(node);
    } catch (reason) {
      throw caused("not-cloneable", `a transfer handler's canHandle() failed: ${messageOf(reason)}`, reason);
    }
  }

  #serialize(instance: object, handler: Registered, depth: number): object {
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
    return place;
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
