export { C as ClearwayError, R as RemoteErrorCode, c as caused, i as invalid, r as remoteErrorCodes } from './types-clearway-error.js';

/**
 * The requirement for the value of an option, in one of five forms:
 *
 * - A number is the minimum.
 * - A string contains the allowed types, as `typeof` names them.
 * - An array lists the allowed values.
 * - An object has the rules for the options of a nested object.
 * - A function tests the value.
 */
type Rule = number | string | readonly unknown[] | Rules | Test;
/** Checks a value. Returns true for a valid value. For an invalid one, returns the requirement as text. */
type Test = (value: unknown) => true | string;
/** The rules for an object of options, by name. */
type Rules = {
    readonly [option: string]: Rule;
};
/**
 * Reads each option once, checks it and fills in the defaults. An option with the value `undefined` counts as missing.
 *
 * Throws `invalid-argument`. For an invalid option, the error names the option and its value. For an unknown option, it names the most
 * similar known option. If reading an option throws, the error's cause is the thrown value.
 */
declare function checked<Options extends object>(options: Options, rules: Rules, defaults?: object, path?: string): Options;

/**
 * Returns a thrown value as an object that the standard codec can encode: class name, message, stack, own properties, causes. Copies all
 * parts. Never throws. A part that the codec cannot encode becomes a text, such as `[not encodable: Function]`.
 */
declare function errorToPlain(thrown: unknown): unknown;
/**
 * Rebuilds a thrown value from what {@link errorToPlain} returned at the other end. An error has the class of the thrown one if every host
 * has that class, or if it is a `ClearwayError`. The frames of `callerStack` follow its own stack. Throws a `CodecError` with the code
 * `malformed` for a value that is no such object.
 */
declare function errorFromPlain(plain: unknown, callerStack?: string): unknown;
/** Returns the value that `move()` has marked, and any other value as it is. */
declare function unmoved(value: unknown): unknown;

/**
 * Returns the method of `source` that gives its async iterator. Reads it once. Returns undefined for other values than async iterables.
 *
 * `return()` of the iterator closes a stream of Node or of the web at once, also while a value is awaited, which may never come. The streams'
 * own iterators wait for that value first, as async generators do.
 */
declare function asyncIteratorOf(source: object): (() => AsyncIterator<unknown, unknown, void>) | undefined;

/**
 * Returns an object that has a function for any name, except for names that JavaScript itself calls: `then`, `toJSON`, `toString`, `valueOf`.
 * Only the types know the names of the tasks. Makes one function per name.
 */
declare function byName<Functions>(make: (name: string) => (...args: unknown[]) => unknown): Functions;

export { asyncIteratorOf, byName, checked, errorFromPlain, errorToPlain, unmoved };
export type { Rule, Rules, Test };
