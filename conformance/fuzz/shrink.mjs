// SPDX-License-Identifier: MIT OR Apache-2.0
// Shrinks a case on which languages disagree.

// Yields every slightly simpler value: the value without a part, a part in place of the value, and the value with a simpler part.
function* simplerValues(value) {
  if (value === null) return;
  yield null;
  if (typeof value === "string") {
    for (let at = 0; at < value.length; at++) yield (value.slice(0, at) + value.slice(at + 1)).toWellFormed();
    if (value.length > 8) yield value.slice(0, value.length / 2).toWellFormed();
  } else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) {
      yield each;
      yield value.toSpliced(at, 1);
      for (const simpler of simplerValues(each)) yield value.with(at, simpler);
    }
  } else if (typeof value === "object") {
    const [form, parts] = Object.entries(value)[0];
    if (form === "map") {
      for (const [at, [key, each]] of parts.entries()) {
        yield each;
        yield { map: parts.toSpliced(at, 1) };
        for (const simpler of simplerValues(each)) yield { map: parts.with(at, [key, simpler]) };
        for (const simpler of simplerValues(key))
          if (typeof simpler === typeof key) yield { map: parts.with(at, [simpler, each]) };
      }
    } else if (Array.isArray(parts)) {
      for (const at of parts.keys()) yield { [form]: parts.toSpliced(at, 1) };
    } else if (form === "bigint" && parts.length > 4) yield { bigint: parts.slice(0, -1) };
  }
}

function* simplerHex(hex) {
  const size = hex.length / 2;
  for (let part = Math.ceil(size / 2); part >= 1; part = part > 1 ? Math.ceil(part / 2) : 0)
    for (let at = 0; at < size; at += part) yield hex.slice(0, at * 2) + hex.slice((at + part) * 2);
  for (let at = 0; at < size; at++)
    for (const byte of ["00", "61", "31"])
      if (hex.slice(at * 2, at * 2 + 2) > byte) yield hex.slice(0, at * 2) + byte + hex.slice(at * 2 + 2);
}

function* simpler(asked) {
  if (asked.op === "decode") {
    for (const hex of simplerHex(asked.hex)) yield { ...asked, hex };
    return;
  }
  if (!asked.codec.endsWith("-method")) {
    for (const value of simplerValues(asked.value)) yield { ...asked, value };
    return;
  }
  const [kind] = Object.keys(asked.value);
  const of = asked.value[kind];
  if (kind === "success") for (const success of simplerValues(of)) yield { ...asked, value: { success } };
  else
    for (const [name, part] of Object.entries(of))
      for (const value of simplerValues(part))
        if (value !== null || !["method", "code"].includes(name))
          yield { ...asked, value: { [kind]: { ...of, [name]: value } } };
}

// Maximum number of steps. Each step sends one case to every program. 20,000 steps take one or two seconds.
const stepsMax = 20_000;

/** Returns a smaller case for which `differs(case)` is still true. */
export async function shrink(asked, differs) {
  let steps = 0;
  for (let found = asked; ; ) {
    let next;
    for (const each of simpler(found)) {
      if (++steps > stepsMax) return found;
      if (await differs(each)) {
        next = each;
        break;
      }
    }
    if (next === undefined) return found;
    found = next;
  }
}
