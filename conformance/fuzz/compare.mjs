// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts answers to texts. Equal answers have equal texts.

function integer(text) {
  return text.startsWith("-0x") ? -BigInt(text.slice(1)) : BigInt(text);
}

/**
 * Returns a text for a value in the notation of README.md. A repeated key appears once, with its last value. With `json`, the entries of
 * maps are sorted by their keys.
 */
function textOf(value, json) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each, json)).join(",")}]`;
  const [form] = Object.keys(value);
  if (form === "int64" || form === "bigint") return `${integer(value[form])}`;
  if (form !== "map") return JSON.stringify(value);
  const entries = new Map(value.map.map(([key, each]) => [textOf(key, json), textOf(each, json)]));
  const texts = Array.from(entries, ([key, each]) => `${key}:${each}`);
  // The entries are sorted, because JavaScript puts index-like keys before the others.
  return `{${(json ? texts.sort() : texts).join(",")}}`;
}

/** Returns a text for an answer, without its id. */
export function outcome({ hex, value, error }, { codec }) {
  // A JSON text with several errors may be refused for any of them.
  if (error) return codec.startsWith("json") ? "error" : `error ${error.code} at ${error.offset}`;
  if (hex !== undefined) return `bytes ${hex}`;
  if (value === undefined) return "no answer";
  const json = codec.startsWith("json");
  if (!codec.endsWith("-method")) return `value ${textOf(value, json)}`;
  const [kind] = Object.keys(value);
  const parts = kind === "success" ? [["value", value.success]] : Object.entries(value[kind]);
  return `${kind} ${parts.map(([name, part]) => `${name} ${textOf(part, json)}`).join(", ")}`;
}
