export { C as CrossesAs, c as crossesAs } from './types-crossing.js';

/**
 * Turns instances of a class into plain values and back. One side serializes, the other deserializes: register the handler under one name
 * on both sides. Both functions run synchronously. If one throws, only the call that needs it fails.
 */
interface TransferHandler<T extends object, Wire> {
    /** The class whose instances the handler takes, with its subclasses. Give either `class` or `canHandle`. */
    class?: abstract new (...args: never[]) => T;
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
/**
 * Registers how instances of a class cross threads: in arguments, results, stream values, and the arguments and values of callbacks, also
 * inside arrays, objects, maps and sets. Register the handler under the same name on both sides: in the task module, and in the module that
 * makes the pool. Calls with a handler that the other side has not registered fail with `unknown-handler`.
 *
 * Once a handler is registered, every value that leaves this thread is searched for instances. Returns a function that removes the handler.
 * Throws `invalid-argument` for an invalid handler, and for a name or a class that another handler has.
 */
declare function registerTransfer<T extends object, Wire>(name: string, handler: TransferHandler<T, Wire>): () => void;

export { registerTransfer };
export type { TransferHandler };
