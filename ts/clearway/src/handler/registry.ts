// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";

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
export interface Registered {
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
export class Registry {
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
