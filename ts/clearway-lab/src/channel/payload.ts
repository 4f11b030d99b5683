// SPDX-License-Identifier: MIT OR Apache-2.0
// The values of the codec scenario and the payloads of the channel scenarios.

/** Makes a message of about 2 KB. It mixes numbers, text, booleans, null, bytes, typed arrays, lists and maps. */
function mixed(): unknown {
  return {
    id: 123_456,
    name: "Zoë Müller",
    active: true,
    score: 98.6,
    none: null,
    big: 2 ** 40,
    tags: ["alpha", "beta", "gamma", "delta", "epsilon"],
    bytes: Uint8Array.from({ length: 512 }, (_, at) => at & 255),
    ints: Int32Array.from({ length: 64 }, (_, at) => at * 1000),
    floats: Float64Array.from({ length: 32 }, (_, at) => at / 3),
    nested: { a: [1, 2, 3, [4, 5, [6]]], b: { c: "text of some length", d: -1, e: 2 ** 31 } },
    rows: Array.from({ length: 10 }, (_, at) => ({
      id: at,
      title: `Row ${at}`,
      price: 9.99 + at,
      stock: at % 2 === 0,
    })),
    text: "A clearway is a stretch of road on which nobody may stop. An app's main thread should be one.",
  };
}

/**
 * Makes 1000 items of nine kinds, in turn. The standard codec writes them in 14,214 bytes if `float` makes 1234 a float64. The
 * second kind is 0, because it was an integer that overflowed in the program from which this list comes.
 */
function items(float: (value: number) => unknown): unknown[] {
  const kinds = [
    () => 1,
    () => 0,
    () => float(1234),
    () => null,
    () => [1234],
    () => ({ hello: 1234 }),
    () => "this is a test",
    () => true,
    () => new Uint8Array(64),
  ];
  return Array.from({ length: 1000 }, (_, at) => kinds[at % kinds.length]?.());
}

const MAKERS: Record<string, (float: (value: number) => unknown) => unknown> = {
  null: () => null,
  int: () => 7,
  string: () => "hello world, how are you",
  list: () => [1, "two", 3.5, true, null],
  map: () => ({ a: 1, b: "x", c: [true] }),
  "2 KB": mixed,
  "1000 items": items,
  // As many bytes as the standard codec writes for "1000 items" with a float64.
  "14 KB": () => Uint8Array.from({ length: 14_214 }, (_, at) => (at * 31) & 255),
  "4 KB": () => Uint8Array.from({ length: 4096 }, (_, at) => (at * 31) & 255),
  "1 MB": () => Uint8Array.from({ length: 1 << 20 }, (_, at) => (at * 31) & 255),
};

/** Makes a payload by its name. `float` converts a whole number for codecs that distinguish integers and floats. */
export function payloadOf(name: string, float: (value: number) => unknown = (value) => value): unknown {
  const make = MAKERS[name];
  if (make === undefined) throw new RangeError(`no such payload: payload=${name} (${Object.keys(MAKERS).join(", ")})`);
  return make(float);
}

/** Converts a value for codecs without typed arrays: turns typed arrays into plain arrays, as is usual with JSON. */
export function plainValue(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array);
  if (Array.isArray(value)) return value.map(plainValue);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainValue(each)]));
}

// Compares an echo with the sent value. Compares the types of typed arrays, but not prototypes: a decoder may return objects
// without a prototype, or a Buffer instead of a Uint8Array.

export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (ArrayBuffer.isView(a) || ArrayBuffer.isView(b)) return sameList(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((each, at) => same(each, b[at]));
  }
  const own = Object.entries(a);
  return (
    own.length === Object.keys(b).length &&
    own.every(([key, value]) => Object.hasOwn(b, key) && same(value, (b as Record<string, unknown>)[key]))
  );
}

const WIDTHS = [Uint8Array, Int32Array, BigInt64Array, Float32Array, Float64Array];

function sameList(a: object, b: object): boolean {
  const width = WIDTHS.find((each) => a instanceof each);
  if (width === undefined || !(b instanceof width)) return false;
  const [left, right] = [a as Uint8Array, b as Uint8Array];
  return left.length === right.length && left.every((value, at) => Object.is(value, right[at]));
}
