// SPDX-License-Identifier: MIT OR Apache-2.0
// What Flutter's engine does otherwise than spec/wire.md, by its own documentation or design. A case that needs one of these is left out,
// and counted under its reason. For all other cases the engine must write the same bytes, read the same values, and refuse what the other
// languages refuse. Its errors name no byte, so the place of an error is not compared.
import { outcome } from "../fuzz/compare.mjs";
import { answer as reference } from "../ts/answer.mjs";

const WHY = {
  nul: "a text has a NUL: the engine's texts are C strings",
  big: "an integer has more than 64 bits, or is written as such a one: the engine has no type for it",
  stack: "an error has a stack trace: the engine's envelopes have none",
  equal: "a map has two keys that the engine takes for one, such as 0.0 and -0.0",
  empty: "a message has no bytes: the engine reads null, or writes a null that has bytes",
  utf8: "a text is not well-formed: the engine's standard and string codecs do not check it",
  limits: "a message is deeper or larger than Clearway's limits: the engine has none",
  float: "JSON has a number that is not a whole one within 2^53: the engine writes and rounds it in its own way",
  list: "JSON has a list of numbers: the engine writes an array",
};

/** The engine's reason to refuse a big integer, which other languages also read if its value is small. */
const noBigIntegers = "Unexpected standard codec type 05";

/**
 * Returns why the case is left out, or undefined if the engine must agree. `given` is the answer of another language, and `own` the
 * engine's.
 */
export function leftOut(asked, given, own) {
  const { codec, op, hex, value } = asked;
  const json = codec.startsWith("json");
  if (op === "decode" && hex === "") return WHY.empty;
  if (op === "encode" && json && value === null) return WHY.empty;
  if (given.error) {
    if (op === "encode") return limitsOf(partsOf(codec, value), json);
    const { code } = given.error;
    if (code === "bad-utf8") return WHY.utf8;
    if (code === "too-deep" || code === "too-large") return WHY.limits;
    return undefined;
  }
  if (own.error?.why?.includes(noBigIntegers)) return WHY.big;
  const parts = partsOf(codec, op === "encode" ? value : given.value);
  if (parts.stack) return WHY.stack;
  if (json && op === "decode" && hasFraction(hex)) return WHY.float;
  return limitsOf(parts, json);
}

const limitsOf = ({ values }, json) => first(values, json);

/** Returns whether the engine's answer is right, given the answer of another language. */
export function agrees(asked, given, own) {
  if (given.error) return own.error !== undefined;
  if (asked.op === "decode") {
    // In JSON, the engine reads whole numbers beyond 2^32 as float64, and the others as int64.
    const read = asked.codec.startsWith("json") ? withWholeNumbers(own) : own;
    return outcome(read, asked) === outcome(given, asked);
  }
  if (own.hex === undefined) return false;
  // JSON may write the digits of an escape in either case.
  return asked.codec.startsWith("json") ? lowered(own.hex) === lowered(given.hex) : own.hex === given.hex;
}

/**
 * Returns what is wrong with the engine's answer to a case of `cases.mjs`, why the case is left out, or neither. The reference is
 * TypeScript's answer, which has a test of its own.
 */
export function judgeFlutter(asked, own) {
  const given = reference(asked);
  const why = leftOut(asked, given, own);
  if (why !== undefined) return { leftOut: why };
  if (agrees(asked, given, own)) return {};
  return { wrong: `expected ${outcome(given, asked).slice(0, 200)}: ${outcome(own, asked).slice(0, 200)}` };
}

function partsOf(codec, value) {
  if (!codec.endsWith("-method")) return { values: [value] };
  if ("call" in value) return { values: [value.call.method, value.call.args ?? null] };
  if ("success" in value) return { values: [value.success] };
  const { code, message, details = null, stacktrace } = value.error;
  return { values: [code, message, details], stack: stacktrace !== undefined };
}

/** Returns the first limit that a value in the notation of README.md needs. */
function limitOf(value, json) {
  if (typeof value === "string") return value.includes("\0") ? WHY.nul : undefined;
  if (typeof value === "number") return json && !Number.isSafeInteger(value) ? WHY.float : undefined;
  if (value === null || typeof value !== "object") return undefined;
  if (Array.isArray(value)) return first(value, json);
  const [form, parts] = Object.entries(value)[0] ?? [];
  if (form === "map") {
    const keys = parts.map(([key]) => equalText(key));
    return first(parts.flat(), json) ?? (new Set(keys).size < keys.length ? WHY.equal : undefined);
  }
  if (form === "int64" || form === "bigint") return limitOfInteger(integer(parts), json);
  if (form === "float64") return json ? WHY.float : undefined;
  return json ? WHY.list : undefined;
}

function first(values, json) {
  for (const each of values) {
    const why = limitOf(each, json);
    if (why !== undefined) return why;
  }
  return undefined;
}

function limitOfInteger(value, json) {
  if (BigInt.asIntN(64, value) !== value) return WHY.big;
  return json && !Number.isSafeInteger(Number(value)) ? WHY.float : undefined;
}

const integer = (text) => (text.startsWith("-0x") ? -BigInt(text.slice(1)) : BigInt(text));

let differing = 0;

/** Returns the same text for two keys that fl_value_equal takes for one: it compares numbers as C does, and a NaN is equal to none. */
function equalText(key) {
  return JSON.stringify(key, (name, each) => {
    if (each === "NaN") return `NaN ${differing++}`;
    if (each === "-0") return { int64: "0" };
    if (name === "int64" || name === "bigint") return `${integer(each)}`;
    return Number.isSafeInteger(each) ? { int64: `${each}` } : each;
  });
}

/** Returns whether a JSON text has a number with a fraction or an exponent, or minus zero. */
function hasFraction(hex) {
  const text = Buffer.from(hex, "hex").toString();
  return /\d[.eE]|-0/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'));
}

/** Returns the answer with every whole float64 within 2^53 as an integer. */
const withWholeNumbers = (answer) =>
  JSON.parse(JSON.stringify(answer), (_, each) =>
    each !== null && typeof each === "object" && Number.isSafeInteger(each.float64) ? each.float64 : each,
  );

const lowered = (hex) =>
  Buffer.from(hex, "hex")
    .toString()
    .replace(/\\u[0-9A-F]{4}/gi, (sequence) => sequence.toLowerCase());
