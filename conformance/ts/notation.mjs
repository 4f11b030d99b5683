// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts between the notation of values in vectors.json and the values of the codecs.
import { float64 } from "clearway/channel";

const lists = {
  uint8: Uint8Array,
  int32: Int32Array,
  float32: Float32Array,
  float64list: Float64Array,
};

/** Reads a float. JSON cannot express NaN, infinities and minus zero, so the notation has them as text. */
const toFloat = (value) => (value === "-0" ? -0 : Number(value));
const fromFloat = (value) =>
  Number.isFinite(value) && !Object.is(value, -0) ? value : Object.is(value, -0) ? "-0" : String(value);
const toInteger = (text) => (text.startsWith("-0x") ? -BigInt(text.slice(1)) : BigInt(text));

const forms = {
  int64: (text) => toInteger(String(text)),
  bigint: (text) => toInteger(String(text)),
  float64: (value) => float64(toFloat(value)),
  int64list: (values) => BigInt64Array.from(values, (each) => BigInt.asIntN(64, toInteger(String(each)))),
  uint8len: (count) => new Uint8Array(count),
  map: (entries) => new Map(entries.map(([key, value]) => [read(key), read(value)])),
};

/** Returns the value that a notation describes. */
export function read(notation) {
  if (notation === null || typeof notation !== "object") return notation;
  if (Array.isArray(notation)) return notation.map(read);
  const entries = Object.entries(notation);
  const [form, parts] = entries[0] ?? [];
  if (entries.length === 1 && Object.hasOwn(forms, form)) return forms[form](parts);
  if (entries.length === 1 && Object.hasOwn(lists, form)) return lists[form].from(parts, toFloat);
  return Object.fromEntries(entries.map(([key, value]) => [key, read(value)]));
}

/** Returns the notation of a value that a lossless codec has decoded. */
export function write(value) {
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : { float64: fromFloat(value) };
    case "bigint":
      return writeInteger(value);
    case "object":
      return value === null ? null : writeObject(value);
    default:
      return value;
  }
}

// The form depends on the integer's value, not on the type byte that it had.
function writeInteger(value) {
  if (BigInt.asIntN(64, value) !== value)
    return { bigint: value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}` };
  return Number.isSafeInteger(Number(value)) ? Number(value) : { int64: String(value) };
}

function writeObject(value) {
  if (Array.isArray(value)) return value.map(write);
  if (value instanceof Map) return { map: Array.from(value, ([key, each]) => [write(key), write(each)]) };
  if (value instanceof BigInt64Array) return { int64list: Array.from(value, String) };
  for (const [form, List] of Object.entries(lists))
    if (value instanceof List) return { [form]: Array.from(value, fromFloat) };
  if (typeof value.valueOf() === "number") return { float64: fromFloat(value.valueOf()) };
  return { map: Object.entries(value).map(([key, each]) => [key, write(each)]) };
}

/** Returns the JSON form of a notation: maps become objects, and floats become numbers. */
export function readPlain(notation) {
  if (notation === null || typeof notation !== "object") return notation;
  if (Array.isArray(notation)) return notation.map(readPlain);
  const [form, parts] = Object.entries(notation)[0] ?? [];
  if (form === "map") return Object.fromEntries(parts.map(([key, value]) => [key, readPlain(value)]));
  const value = read(notation);
  if (typeof value === "bigint") return Number(value);
  return form === "float64" ? value.valueOf() : value;
}
