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
  return new Encoding(registry).encode(value);
}

/** A handled instance in the value. */
interface Instance {
  readonly instance: object;
  readonly handler: Registered;
  /** The object in its place. */
  readonly place: object;
  /** How many instances it is nested in. */
  readonly depth: number;
  /** The instances in its wire value. */
  readonly contains: Instance[];
  inner: unknown;
  /** Whether its part is in the list, or is waiting for those of the instances in it. */
  state: "new" | "waiting" | "listed";
}

// Instances are encoded one after the other, because a worker's stack has no room for instances that are nested hundreds of levels deep.
class Encoding {
  readonly #registry: Registry;
  readonly #transfer = new Set<object>();
  readonly #found = new Map<object, Instance>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  encode(value: unknown): Encoded | undefined {
    const top: Instance[] = [];
    const root = this.#copy(value, top, 0);
    if (top.length === 0) return undefined;
    // The map grows meanwhile: an instance's wire value may contain further ones.
    for (const each of this.#found.values()) {
      const [wire, transfer] = serialized(each.instance, each.handler);
      for (const object of transfer) this.#transfer.add(object);
      each.inner = this.#copy(wire, each.contains, each.depth + 1);
    }
    return { root, parts: partsOf(top), transfer: [...this.#transfer] };
  }

  // Returns a copy of the value with places for instances, which it adds to `contains`.
  #copy(value: unknown, contains: Instance[], depth: number): unknown {
    return copyValue(value, (object) => this.#place(object, contains, depth));
  }

  #place(object: object, contains: Instance[], depth: number): object | undefined {
    let found = this.#found.get(object);
    if (found === undefined) {
      const handler = this.#handlerOf(object);
      if (handler === undefined) return undefined;
      if (depth >= depthMax) throw broken(handler, `returned instances that are nested more than ${depthMax} deep`);
      found = { instance: object, handler, place: {}, depth, contains: [], inner: undefined, state: "new" };
      this.#found.set(object, found);
    }
    contains.push(found);
    return found.place;
  }

  #handlerOf(node: object): Registered | undefined {
    try {
      return this.#registry.handlerOf(node);
    } catch (reason) {
      throw caused("not-cloneable", `a transfer handler's canHandle() failed: ${messageOf(reason)}`, reason);
    }
  }
}

/** Returns the parts of all instances, those in an instance before the instance. Throws if an instance contains itself. */
function partsOf(top: readonly Instance[]): Part[] {
  const parts: Part[] = [];
  const open = [...top].reverse();
  for (let each = open.at(-1); each !== undefined; each = open.at(-1)) {
    if (each.state === "new") {
      each.state = "waiting";
      for (const inner of each.contains) {
        if (inner.state === "waiting")
          throw broken(inner.handler, "returned a value that contains the instance itself");
        if (inner.state === "new") open.push(inner);
      }
      continue;
    }
    open.pop();
    if (each.state === "listed") continue;
    each.state = "listed";
    parts.push([each.place, each.handler.name, each.inner]);
  }
  return parts;
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
