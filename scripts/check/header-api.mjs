// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the committed snapshot of the C headers, native/api/headers.txt, with the headers. The snapshot has each constant, type and
// function, and the offset of each field. `--write` replaces it, unless a plugin that is built with the old headers would then break.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isProgram, report } from "../problems.mjs";
import { root } from "../sources.mjs";

const snapshot = "native/api/headers.txt";
const headers = ["clearway.h", "clearway_host.h"].map((name) => `native/include/${name}`);

const sizes = { uint8_t: 1, char: 1, int32_t: 4, uint32_t: 4, uint64_t: 8, size_t: 8 };
const one = (text) => text.replace(/\s+/g, " ").replaceAll("struct ", "").trim();

/**
 * Reads the text of headers. Returns the constants by name, the types that are other names, the functions, the function pointers, and the
 * structs with their fields. The offsets are those of 64-bit machines.
 */
export function read(text) {
  const api = { constants: {}, types: {}, functions: {}, structs: {} };
  const sized = { ...sizes };
  const code = text
    .replace(/\/\/.*$/gm, "")
    .replace(/^#define (\w+) +(\d+)$/gm, (_, name, value) => {
      api.constants[name] = Number(value);
      return "";
    })
    .replace(/^#.*(\\\n.*)*$/gm, "")
    .replace(/extern "C"( \{)?|^\} *$/gm, "");
  const widthOf = (type) => {
    if (/\*|\(/.test(type)) return { size: 8, align: 8 };
    const known = sized[type.replace("const ", "")] ?? api.structs[type];
    if (known === undefined) throw new Error(`the header uses a type before it declares it: ${type}`);
    return typeof known === "number" ? { size: known, align: known } : known;
  };
  for (const [, struct, body, pointer, other] of code.matchAll(
    /\s*(?:typedef struct (\w+) \{([^}]*)\} \w+;|typedef ([^;{]*\(\*\w+\)[^;]*);|([^;{}]+);)/g,
  )) {
    if (struct !== undefined) api.structs[struct] = layout(body, widthOf);
    else if (pointer !== undefined) {
      const name = /\(\*(\w+)\)/.exec(pointer)[1];
      api.functions[name] = one(pointer);
      sized[name] = 8;
    } else if (one(other).startsWith("typedef ")) {
      const [, type, name] = /^typedef (.*) (\w+)$/.exec(one(other));
      api.types[name] = type;
      sized[name] = sized[type];
    } else if (/\w+\(/.test(other)) api.functions[/(\w+)\(/.exec(other)[1]] = one(other);
  }
  return api;
}

/** Returns the size, the alignment and the fields of a struct, each field with its offset. */
function layout(body, widthOf) {
  let [end, align] = [0, 1];
  const fields = body.split(";").flatMap((declared) => {
    const text = one(declared);
    if (text === "") return [];
    const name = /\(\*(\w+)\)/.exec(text)?.[1] ?? /(\w+)$/.exec(text)[1];
    const width = widthOf(text.includes("(*") ? text : one(text.slice(0, -name.length)));
    const offset = Math.ceil(end / width.align) * width.align;
    end = offset + width.size;
    align = Math.max(align, width.align);
    return [{ name, text, offset }];
  });
  return { size: Math.ceil(end / align) * align, align, fields };
}

/** Returns the snapshot's text. */
export function shown({ constants, types, functions, structs }) {
  return `${[
    "The public interface of native/include, for reviews. `make fmt` writes it. Offsets are those of 64-bit machines.",
    ...Object.entries(constants).map(([name, value]) => `constant ${name} ${value}`),
    ...Object.entries(types).map(([name, type]) => `type ${name} ${type}`),
    ...Object.entries(structs).flatMap(([name, { size, fields }]) => [
      `struct ${name} ${size}${grows({ fields }) ? " grows" : ""}`,
      ...fields.map(({ text, offset }) => `  ${offset} ${text}`),
    ]),
    ...Object.values(functions).map((text) => `function ${text}`),
  ].join("\n")}\n`;
}

const grows = ({ fields }) => fields[0]?.text === "size_t size";

/** Reads a snapshot's text. */
export function parsed(text) {
  const api = { constants: {}, types: {}, functions: {}, structs: {} };
  let fields;
  for (const line of text.split("\n").slice(1)) {
    const [kind, name, ...rest] = line.split(" ");
    if (kind === "constant") api.constants[name] = Number(rest[0]);
    if (kind === "type") api.types[name] = rest.join(" ");
    if (kind === "function") api.functions[/\(\*(\w+)\)/.exec(line)?.[1] ?? /(\w+)\(/.exec(line)[1]] = line.slice(9);
    if (kind === "struct") {
      fields = [];
      api.structs[name] = { size: Number(rest[0]), fields };
    }
    const field = /^ {2}(\d+) (.+)$/.exec(line);
    if (field) {
      const [, offset, declared] = field;
      fields.push({
        name: /\(\*(\w+)\)/.exec(declared)?.[1] ?? /(\w+)$/.exec(declared)[1],
        text: declared,
        offset: Number(offset),
      });
    }
  }
  return api;
}

/** Returns a function's types, without the names of its parameters. */
const withoutNames = (text) => `${text}`.replace(/([ *])\w+(?=[,)])/g, "$1");
const differ = (one, other) => one !== other && (other === undefined || withoutNames(one) !== withoutNames(other));

/** Returns what breaks plugins or hosts that were built with the headers `before`. With another major version, everything may change. */
export function breaks(before, after) {
  if (before.constants.CLEARWAY_ABI_MAJOR !== after.constants.CLEARWAY_ABI_MAJOR) return [];
  const problems = [];
  const versions = ["CLEARWAY_ABI_MAJOR", "CLEARWAY_ABI_MINOR"];
  for (const kind of ["constants", "types", "functions"])
    for (const [name, old] of Object.entries(before[kind]))
      if (!versions.includes(name) && differ(old, after[kind][name]))
        problems.push(
          `${name} was "${old}" and is ${after[kind][name] === undefined ? "gone" : `"${after[kind][name]}"`}`,
        );
  let added = false;
  for (const [name, struct] of Object.entries(before.structs)) {
    const now = after.structs[name];
    if (now === undefined) {
      problems.push(`the struct ${name} is gone`);
      continue;
    }
    struct.fields.forEach(({ name: called, text, offset }, at) => {
      const field = now.fields[at];
      if (field?.name !== called || differ(text, field.text) || field.offset !== offset)
        problems.push(`${name}: byte ${offset} was "${text}" and is "${field?.text ?? "nothing"}"`);
    });
    if (now.fields.length > struct.fields.length) {
      added = true;
      if (!grows(struct)) problems.push(`${name} has no field size, so it must get no further field`);
    }
  }
  if (added && before.constants.CLEARWAY_ABI_MINOR === after.constants.CLEARWAY_ABI_MINOR)
    problems.push("a struct has a further field: raise CLEARWAY_ABI_MINOR in native/crates/sys/src/host.rs");
  return problems;
}

if (isProgram(import.meta)) {
  const api = read(headers.map((path) => readFileSync(join(root, path), "utf8")).join("\n"));
  const text = shown(api);
  const file = join(root, snapshot);
  const committed = existsSync(file) ? readFileSync(file, "utf8") : "";
  const problems =
    committed === ""
      ? []
      : breaks(parsed(committed), api).map((problem) => `${problem}; otherwise raise CLEARWAY_ABI_MAJOR`);
  if (process.argv.includes("--write") && problems.length === 0) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } else if (committed !== text && problems.length === 0) {
    problems.push(`${snapshot} is not the interface of native/include; look at the difference, then: make fmt`);
  }
  report(
    problems,
    `${Object.keys(api.structs).length} structs and ${Object.keys(api.functions).length} functions are as committed`,
  );
}
