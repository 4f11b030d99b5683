// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases for every language: each vector in both directions, each truncation of each vector, and the corpus of hostile messages.

/** Returns the cases of vectors.json and corpus.json, each with the expected answer: `{ ask, expect }`. */
export function casesOf(vectors, corpus) {
  return [...vectors.flatMap(ofVector), ...corpus.map(ofCorpus)].map(({ ask, expect }, id) => ({
    ask: { id: `${id} ${ask.id}`, ...rest(ask) },
    expect,
  }));
}

const rest = ({ id: _, ...others }) => others;

function ofVector({ name, codec, value, hex, direction }) {
  const as = codec.endsWith("-method") ? { as: "call" in value ? "call" : "reply" } : {};
  const whole = direction === "prefix" ? hex + "00".repeat(value.uint8len) : hex;
  const decode = (id, bytes) => ({ id, codec, op: "decode", hex: bytes, ...as });
  const read = direction === "prefix" ? { uint8: new Array(value.uint8len).fill(0) } : value;
  const cases = [{ ask: decode(`${name}, decoded`, whole), expect: { value: read } }];
  if (direction !== "decode")
    cases.push({ ask: { id: `${name}, encoded`, codec, op: "encode", value }, expect: { hex: whole } });
  for (const size of truncations(whole.length / 2)) {
    // This prefix is not truncated: an error without its optional fourth value is a complete error with three values.
    if (whole.slice(0, size * 2) === withoutStack(value, whole)) continue;
    cases.push({
      ask: decode(`${name}, first ${size} bytes`, whole.slice(0, size * 2)),
      // An error of JSON does not say where.
      expect: codec.startsWith("json") ? { error: { code: "malformed", offset: 0 } } : { truncatedAt: size },
    });
  }
  return cases;
}

function withoutStack(value, hex) {
  const { error } = value ?? {};
  return error?.stacktrace === undefined ? undefined : hex.slice(0, -4 - 2 * error.stacktrace.length);
}

// Returns the lengths to which a message is cut. A short message is cut to every length below its own. A long message is cut only near its
// start, where its sizes are, and near its end, inside its last element.
function truncations(size) {
  const all = Array.from({ length: size }, (_, at) => at);
  return size <= 300 ? all : [...all.slice(0, 40), ...all.slice(-8)];
}

function ofCorpus({ name, codec, op = "decode", as, hex, value, error, read }) {
  if (op === "encode") return { ask: { id: `${name}, encoded`, codec, op, value }, expect: { hex } };
  const expect = read ? { read } : error ? { error } : { value };
  return { ask: { id: name, codec, op, hex, ...(as ? { as } : {}) }, expect };
}

/** Returns undefined if the answer is the expected one. Otherwise returns a description of the difference. */
export function judge({ ask, expect }, answer) {
  if (answer?.id !== ask.id) return `an answer to ${JSON.stringify(answer?.id)}`;
  const shown = JSON.stringify({ ...answer, id: undefined }).slice(0, 200);
  if (expect.truncatedAt !== undefined) {
    const { code, offset } = answer.error ?? {};
    if (code === "truncated" && Number.isInteger(offset) && offset >= 0 && offset <= expect.truncatedAt)
      return undefined;
    return `expected truncated, at byte ${expect.truncatedAt} at most: ${shown}`;
  }
  if (expect.error) {
    const { code, offset } = answer.error ?? {};
    return code === expect.error.code && offset === expect.error.offset
      ? undefined
      : `expected ${JSON.stringify(expect.error)}: ${shown}`;
  }
  if (expect.hex !== undefined)
    return answer.hex === expect.hex ? undefined : `expected ${expect.hex.slice(0, 80)}: ${shown}`;
  if (!("value" in answer)) return `expected a value: ${shown}`;
  // The corpus has no value to compare here, because JSON parsers refuse values that are nested this deeply.
  if (expect.read) return undefined;
  return canonical(answer.value) === canonical(expect.value)
    ? undefined
    : `expected ${JSON.stringify(expect.value).slice(0, 200)}: ${shown}`;
}

/** Returns the same text for all notations of one value. */
export function canonical(value) {
  return JSON.stringify(value, (_, each) => {
    if (each === null || typeof each !== "object" || Array.isArray(each)) return each;
    const keys = Object.keys(each);
    if (keys.length !== 1) return Object.fromEntries(keys.sort().map((key) => [key, each[key]]));
    if (keys[0] === "int64" || keys[0] === "bigint") return integer(each[keys[0]]);
    if (keys[0] === "int64list") return { "int64list ": each.int64list.map(integer) };
    return each;
  });
}

function integer(text) {
  const value = String(text).startsWith("-0x") ? -BigInt(String(text).slice(1)) : BigInt(text);
  return Number.isSafeInteger(Number(value)) ? Number(value) : { integer: String(value) };
}
