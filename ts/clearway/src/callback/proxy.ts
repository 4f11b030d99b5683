// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, object as checkedObject, type Rules } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";
import type { MethodNames, ProxyArgument } from "../task/callback-types.js";
import { type CallbackOptions, defaults, rules } from "./callback.js";
import { MarkedFunction } from "./marked-function.js";

/** Options of {@link proxy}. */
export interface ProxyOptions<Name extends string = string> extends CallbackOptions {
  /** The names of the methods that the task may call. Default: all methods of the object and of its classes. */
  methods?: readonly Name[];
}

// Names that no proxy has. An object with a `then` is a thenable: an `await` of it would call the method. JSON.stringify and code that looks
// for the class of an object would call the others.
const refused = ["then", "toJSON", "constructor", "__proto__"];

const proxyRules: Rules = {
  ...rules,
  methods: (value) =>
    (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string")) ||
    "a list of names of methods",
};

// Maximum number of classes above an object. A foreign object may give a new prototype at each request, without end.
const classesMax = 100;

/**
 * Marks an object whose methods a task may call: `pool.call.build(files, proxy(console, { methods: ["log"] }))`. The task receives a
 * `Remote`, which is an object with asynchronous methods of the same names. Nothing else of the object crosses.
 *
 * The methods run on this thread, as methods of `object`, in the order in which the task calls them. For their arguments, values, errors and
 * end, the same holds as for a function under `callback()`. The methods of one proxy share its `concurrency`.
 *
 * Without `methods`, the task may call every method that the object has now: own functions, and those of its classes, but no getters, and
 * nothing with a symbol as its name. No proxy has methods called `then`, `toJSON`, `constructor` or `__proto__`.
 *
 * Throws `invalid-argument` if the object has no method, if it has no method of a name in `methods`, or for an invalid option.
 */
export function proxy<T extends object, Name extends MethodNames<T> = MethodNames<T>>(
  object: T,
  options: ProxyOptions<Name> = {},
): ProxyArgument<Pick<T, Name>> {
  checkedObject("object", object);
  const { methods, concurrency } = checked(options, proxyRules, defaults);
  const names = [...new Set<string>(methods ? methods.map((each) => named(object, each)) : methodsOf(object))];
  if (names.length === 0) throw invalid("object", "an object with methods", object);
  const call = (at: unknown, ...args: unknown[]): unknown => {
    // The index comes from a worker, which may be hostile.
    const name = typeof at === "number" ? names[at] : undefined;
    if (name === undefined)
      throw new ClearwayError("protocol", "the worker called a method that the proxy does not have");
    return (object as Record<string, (...args: unknown[]) => unknown>)[name]!(...args);
  };
  const marked: unknown = new MarkedFunction(call, concurrency!, names);
  return marked as ProxyArgument<Pick<T, Name>>;
}

function named(object: object, name: string): string {
  const must = refused.includes(name)
    ? "a name that a proxy may have"
    : typeof (object as Record<string, unknown>)[name] !== "function" && "the name of a method";
  if (must) throw invalid("methods", must, name);
  return name;
}

// Returns the names of an object's methods. Calls no getter. Omits the methods that every object has.
function methodsOf(object: object): string[] {
  const names = new Set<string>();
  const seen = new Set<PropertyKey>();
  let each: object | null = object;
  for (let depth = 0; each !== null; depth++) {
    const above: object | null = Object.getPrototypeOf(each);
    // `Object.prototype`, of any realm.
    if (above === null && depth > 0) break;
    if (depth > classesMax) throw invalid("object", `an object of at most ${classesMax} classes`, object);
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(each))) {
      // A property hides those of the same name above it.
      if (!seen.has(name) && typeof value === "function" && !refused.includes(name)) names.add(name);
      seen.add(name);
    }
    each = above;
  }
  return [...names];
}
