// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Transfer handlers: how instances of classes cross threads. Import it on both sides.
 *
 * @module clearway/transfer
 */

import { checked, type Rules } from "./error/checked.js";
import { ClearwayError, caused, invalid, messageOf } from "./error/clearway-error.js";
import { depthMax } from "./error/depth.js";
import { isListOf } from "./error/wire-check.js";
import { totalBufferBytes } from "./host/structure.js";
import { copyValue } from "./transfer/copy-value.js";
import { Form } from "./transfer/crossing.js";
import { findMemory, searchLimit } from "./transfer/find-memory.js";
import { enterCopy, type LedgerSide } from "./transfer/ledger.js";
import { MovedValue, preparedMove } from "./transfer/move.js";
import { unknownHandler, wouldCopy } from "./transfer/refusal.js";
import { movedKey, type PreparedValue, scope, type TransferHooks } from "./transfer/revive.js";

export type { CrossesAs, crossesAs } from "./transfer/crossing.js";

/**
 * Turns instances of a class into plain values and back. One side serializes, the other deserializes: register the handler under one name
 * on both sides. Both functions run synchronously. If one throws, only the call that needs it fails.
 */
export interface TransferHandler<T extends object, Wire> {
  /** The class whose instances the handler takes, with its subclasses. Give either `class` or `canHandle`. */
  class?: abstract new (
    ...args: never[]
  ) => T;
  /**
   * Returns whether the handler takes an object. Called for objects of any class, but not for plain objects, arrays and binary memory. If
   * it throws, the call fails.
   */
  canHandle?(value: object): boolean;
  /**
   * Returns a value that can be cloned, and the objects in it that move. The value may contain instances of other handlers. Must not change
   * the instance: a call may serialize it more than once.
   */
  serialize(value: T): readonly [wire: Wire, transfer: readonly object[]];
  /** Returns the instance for a value of `serialize`. Owns the value. */
  deserialize(wire: Wire): T;
}

/** A registered handler. */
interface Registered {
  readonly name: string;
  readonly canHandle: ((value: object) => boolean) | undefined;
  serialize(value: object): unknown;
  deserialize(wire: unknown): unknown;
}

const rules: Rules = {
  class: "function",
  canHandle: "function",
  serialize: "function",
  deserialize: "function",
};

/** The handlers of this thread. */
class Registry {
  readonly #byName = new Map<string, Registered>();
  readonly #byPrototype = new Map<object, Registered>();
  #others: Registered[] = [];

  get size(): number {
    return this.#byName.size;
  }

  get names(): string[] {
    return [...this.#byName.keys()];
  }

  /** Adds a handler. Returns a function that removes it. Throws `invalid-argument`. */
  add<T extends object, Wire>(name: string, handler: TransferHandler<T, Wire>): () => void {
    if (typeof name !== "string" || name === "") throw invalid("name", "a text that is not empty", name);
    if (this.#byName.has(name)) throw invalid("name", "a name that no other handler has on this thread", name);
    // Takes the functions once, because `handler` is the app's object. They keep it as their `this`.
    const { class: type, canHandle, serialize, deserialize } = checked(handler, rules);
    if ((type === undefined) === (canHandle === undefined))
      throw invalid("handler", "an object with either `class` or `canHandle`", handler);
    for (const [key, fn] of Object.entries({ serialize, deserialize }))
      if (typeof fn !== "function") throw invalid(key, "a function", fn);
    const prototype = type?.prototype as object | null | undefined;
    if (type !== undefined && (typeof prototype !== "object" || prototype === null || this.#byPrototype.has(prototype)))
      throw invalid("class", "a class that no other handler has on this thread", type);
    const entry: Registered = {
      name,
      canHandle: canHandle && ((value) => canHandle.call(handler, value) === true),
      serialize: (value) => serialize.call(handler, value as T),
      deserialize: (wire) => deserialize.call(handler, wire as Wire),
    };
    this.#byName.set(name, entry);
    if (prototype) this.#byPrototype.set(prototype, entry);
    else this.#others.push(entry);
    return () => {
      if (this.#byName.get(name) !== entry) return;
      this.#byName.delete(name);
      if (prototype) this.#byPrototype.delete(prototype);
      this.#others = this.#others.filter((each) => each !== entry);
    };
  }

  named(name: string): Registered | undefined {
    return this.#byName.get(name);
  }

  /**
   * Returns the handler for an object: that of its nearest class, otherwise the first whose `canHandle` returns true. Runs code of the app.
   */
  handlerOf(value: object): Registered | undefined {
    if (isPlain(value)) return undefined;
    for (let at: object | null = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) {
      const found = this.#byPrototype.get(at);
      if (found !== undefined) return found;
    }
    return this.#others.find(({ canHandle }) => canHandle?.(value));
  }
}

// Small plain values and binary memory may go by the ring, which asks no handler. Handlers must see the same values on every carrier.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null) return true;
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** A handled instance: the object in its place, the name of its handler, and its wire value. */
type Part = readonly [place: object, name: string, wire: unknown];

/** The content of a value with handled instances, as it crosses. */
interface HandledContent {
  /** The value, with an empty object in place of each handled instance. */
  readonly root: unknown;
  /** The handled instances. An instance comes after those in its own wire value. */
  readonly parts: readonly Part[];
}

/** Returns a content that has arrived. Throws `protocol` for a content of another form. */
function contentOf(arrived: unknown): HandledContent {
  const { root, parts } = (arrived ?? {}) as Partial<HandledContent>;
  if (isListOf(parts, isPart)) return { root, parts: parts as readonly Part[] };
  throw new ClearwayError("protocol", "a value with handled instances has a form that is not known");
}

function isPart(part: unknown): part is Part {
  if (!Array.isArray(part) || part.length !== 3) return false;
  const [place, name] = part;
  return place !== null && typeof place === "object" && typeof name === "string";
}

/** A value whose handled instances were replaced. */
interface Encoded extends HandledContent {
  /** The objects that the handlers move. */
  readonly transfer: object[];
}

/**
 * Replaces the handled instances in a value, at any depth. Returns undefined if there are none. Does not change the value.
 *
 * Visits every object in the value once. Throws `not-cloneable` if a handler throws, returns something else than a value and a list, or
 * returns a value that contains the instance itself.
 */
function encode(value: unknown, registry: Registry): Encoded | undefined {
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

/**
 * Makes the value of a content, with the instances that the handlers return.
 *
 * Throws `protocol` for a content of another form, `unknown-handler` for a name that is not registered on this thread, and `message-error`
 * if a handler throws or returns no object.
 */
function decode(content: unknown, registry: Registry): unknown {
  const { root, parts } = contentOf(content);
  const instances = new Map<object, object>();
  const withInstances = (value: unknown): unknown =>
    instances.size === 0 ? value : copyValue(value, (object) => instances.get(object));
  for (const [place, name, wire] of parts) {
    const handler = registry.named(name);
    if (handler === undefined) throw unknownHandler(name, registry.names);
    instances.set(place, deserialized(handler, withInstances(wire)));
  }
  return withInstances(root);
}

function deserialized(handler: Registered, wire: unknown): object {
  let instance: unknown;
  try {
    instance = handler.deserialize(wire);
  } catch (reason) {
    throw failed(handler, `failed: ${messageOf(reason)}`, reason);
  }
  if (instance !== null && typeof instance === "object") return instance;
  throw failed(handler, "returned no object");
}

function failed({ name }: Registered, how: string, cause?: unknown): ClearwayError {
  return caused("message-error", `the deserialize() of the transfer handler "${name}" ${how}`, cause);
}

/** The hooks of this thread. An app may load two copies of this entry. The second one uses the registry of the first. */
class Handlers implements TransferHooks {
  readonly registry = new Registry();

  argument(value: unknown, strict: boolean, side: LedgerSide): PreparedValue | undefined {
    const moved = value instanceof MovedValue ? value : undefined;
    const encoded = encode(moved ? moved.value : value, this.registry);
    if (encoded === undefined) return undefined;
    const content = handledContent(encoded);
    const form = Form.handled;
    if (moved) return preparedMove(movedWith(moved, encoded, content), form, strict, side);
    // The handlers list what moves. All other memory is copied.
    const found = findMemory(content, searchLimit);
    const bytes = found.copies.reduce((sum, copy) => sum + copy.bytes, found.movedBytes);
    const movedBytes = totalBufferBytes(encoded.transfer);
    const copiedBytes = Math.max(0, bytes - movedBytes);
    if (copiedBytes > 0) {
      if (strict) throw wouldCopy("argument-not-moved", copiedBytes);
      enterCopy(side, "argument-not-moved", copiedBytes);
    }
    side.movedBytes += movedBytes;
    side.sharedBytes += found.sharedBytes;
    return { form, value: found.value, transfer: encoded.transfer, bytes, deep: found.deep };
  }

  encoded(value: unknown): unknown {
    const moved = value instanceof MovedValue ? value : undefined;
    const encoded = encode(moved ? moved.value : value, this.registry);
    if (encoded === undefined) return undefined;
    // The search for memory that moves finds the handlers' objects in the content.
    return moved ? movedWith(moved, encoded, handledContent(encoded)) : handledContent(encoded);
  }

  decoded(content: unknown): unknown {
    return decode(content, this.registry);
  }
}

function handledContent({ root, parts }: Encoded): HandledContent {
  return { root, parts };
}

function movedWith({ transfer }: MovedValue, encoded: Encoded, content: HandledContent): MovedValue {
  return new MovedValue(content, transfer && [...transfer, ...encoded.transfer]);
}

/**
 * Registers how instances of a class cross threads: in arguments, results, stream values, and the arguments and values of callbacks, also
 * inside arrays, objects, maps and sets. Register the handler under the same name on both sides: in the task module, and in the module that
 * makes the pool. Calls with a handler that the other side has not registered fail with `unknown-handler`.
 *
 * Once a handler is registered, every value that leaves this thread is searched for instances. Returns a function that removes the handler.
 * Throws `invalid-argument` for an invalid handler, and for a name or a class that another handler has.
 */
export function registerTransfer<T extends object, Wire>(name: string, handler: TransferHandler<T, Wire>): () => void {
  const handlers = (scope[movedKey] as Handlers | undefined) ?? new Handlers();
  const remove = handlers.registry.add(name, handler);
  scope[movedKey] = handlers;
  return () => {
    remove();
    if (handlers.registry.size === 0 && scope[movedKey] === handlers) scope[movedKey] = undefined;
  };
}
