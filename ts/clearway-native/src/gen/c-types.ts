// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TypeShape } from "clearway/channel";
import {
  directions,
  type Model,
  type NamedType,
  quoted,
  screamingSnake,
  snake,
  UniqueNames,
  UnsupportedSchemaError,
  words,
} from "./model.js";

const scalars: Record<string, string> = {
  any: "const clearway_value *",
  bool: "bool",
  i32: "int32_t",
  int: "int64_t",
  i64: "int64_t",
  f64: "double",
  text: "clearway_text",
  bytes: "clearway_bytes",
  i32s: "clearway_i32s",
  i64s: "clearway_i64s",
  f32s: "clearway_f32s",
  f64s: "clearway_f64s",
};

/** Names a schema's types and their functions in C, and generates the code for each type. */
export class CTypes {
  constructor(
    readonly model: Model,
    readonly prefix: string,
  ) {}

  /** Returns the C type. The text of a pointer type ends with `*`. */
  typeName(shape: TypeShape): string {
    return scalars[shape.kind] ?? `${this.prefix}_${snake(this.model.nameOf(shape))}`;
  }

  /** Returns the declaration of a variable, a field or a parameter of the type. */
  variable(shape: TypeShape, name: string): string {
    const type = this.typeName(shape);
    return type.endsWith("*") ? `${type}${name}` : `${type} ${name}`;
  }

  /** Returns the declaration of a parameter that points to a constant value. */
  pointer(shape: TypeShape, name: string): string {
    const type = this.typeName(shape);
    return type.endsWith("*") ? `${type}const *${name}` : `const ${type} *${name}`;
  }

  /** Returns the name of the function that reads a value of the type. */
  reader(shape: TypeShape): string {
    return scalars[shape.kind] ? `clearway_gen_read_${shape.kind}` : this.#functionName("read", shape);
  }

  /** Returns the name of the function that adds a value of the type to a message. */
  adder(shape: TypeShape): string {
    return scalars[shape.kind] ? `clearway_gen_add_${shape.kind}` : this.#functionName("add", shape);
  }

  #functionName(verb: string, shape: TypeShape): string {
    return `${this.prefix}_${verb}_${snake(this.model.nameOf(shape))}`;
  }

  /** Returns the code of a type: its declaration, and the functions that read it and add it to a message. */
  declare(declared: NamedType): string {
    return [this.#declaration(declared), this.#read(declared), this.#add(declared)].join("\n\n");
  }

  #declaration({ name, shape }: NamedType): string {
    const type = this.typeName(shape);
    const about = `/** The type "${words(name).join(" ")}" of the schema. */`;
    switch (shape.kind) {
      case "one-of":
        return `${about}\ntypedef enum ${type} {\n${enumerators(type, shape.texts)
          .map(({ identifier }) => `  ${identifier},`)
          .join("\n")}\n} ${type};`;
      case "struct": {
        const fields = fieldsOf(name, shape.fields).map(
          ({ identifier, field }) =>
            `  /** ${escapeComment(quoted(field.name))} */\n  ${this.variable(field.type, identifier)};`,
        );
        // C has no struct without members.
        return `${about}\ntypedef struct ${type} {\n${fields.join("\n") || "  char none;"}\n} ${type};`;
      }
      case "nullable":
        return `${about}\ntypedef struct ${type} {\n  bool is_some;\n  ${this.variable(shape.of, "some")};\n} ${type};`;
      case "list":
        return `${about}\ntypedef struct ${type} {\n  ${this.pointer(shape.of, "items")};\n  size_t count;\n} ${type};`;
      case "map":
        return [
          about,
          `typedef struct ${type}_entry {\n  clearway_text key;\n  ${this.variable(shape.of, "value")};\n} ${type}_entry;`,
          `typedef struct ${type} {\n  const ${type}_entry *items;\n  size_t count;\n} ${type};`,
        ].join("\n");
    }
  }

  #read({ name, shape }: NamedType): string {
    const body = {
      "one-of": () => [
        ...enumerators(this.typeName(shape), shape.kind === "one-of" ? shape.texts : []).map(
          ({ identifier, text }) => `if (clearway_text_is(value, ${cLiteral(text)})) return *to = ${identifier}, true;`,
        ),
        "(void)arena;",
        `return clearway_gen_reject(issue, ${cLiteral(expectedTexts(shape.kind === "one-of" ? shape.texts : []))});`,
      ],
      struct: () => [
        'if (value == NULL || value->kind != CLEARWAY_KIND_MAP) return clearway_gen_reject(issue, "an object");',
        ...(shape.kind === "struct" ? fieldsOf(name, shape.fields) : []).map(
          ({ identifier, field }) =>
            `if (!${this.reader(field.type)}(clearway_find(value, ${cLiteral(field.name)}), arena, issue, &to->${identifier})) return clearway_gen_prefix_path(issue, ${cLiteral(`.${field.name}`)});`,
        ),
        "(void)arena;",
        "(void)to;",
        "return true;",
      ],
      nullable: () => [
        "memset(to, 0, sizeof *to);",
        "to->is_some = !clearway_gen_is_null(value);",
        `return !to->is_some || ${this.reader((shape as { of: TypeShape }).of)}(value, arena, issue, &to->some);`,
      ],
      list: () => this.#readItems(shape as { kind: "list"; of: TypeShape }),
      map: () => this.#readItems(shape as { kind: "map"; of: TypeShape }),
    }[shape.kind]();
    return cFunction(
      `bool ${this.reader(shape)}(const clearway_value *value, clearway_gen_arena *arena, clearway_gen_validation_issue *issue, ${this.typeName(shape)} *to)`,
      body,
    );
  }

  #readItems(shape: { kind: "list" | "map"; of: TypeShape }): string[] {
    const map = shape.kind === "map";
    const item = map ? `${this.typeName(shape)}_entry` : this.typeName(shape.of);
    const star = item.endsWith("*") ? `${item}*` : `${item} *`;
    const reader = this.reader(shape.of);
    const expected = map ? "a map with texts as keys" : "a list";
    return [
      `if (value == NULL || value->kind != ${map ? "CLEARWAY_KIND_MAP" : "CLEARWAY_KIND_LIST"}) return clearway_gen_reject(issue, "${expected}");`,
      `${star}items = (${star.trimEnd()})clearway_gen_allocate(arena, value->count, sizeof *items);`,
      'if (items == NULL) return clearway_gen_reject(issue, "small enough for the memory that is left");',
      "const clearway_value *each = value + 1;",
      "for (size_t at = 0; at < value->count; at++) {",
      ...(map
        ? [
            `  if (!clearway_gen_read_text(each, arena, issue, &items[at].key)) return clearway_gen_reject(issue, "${expected}");`,
            "  each += each->nodes;",
            `  if (!${reader}(each, arena, issue, &items[at].value)) return clearway_gen_prefix_index(issue, at);`,
          ]
        : [`  if (!${reader}(each, arena, issue, &items[at])) return clearway_gen_prefix_index(issue, at);`]),
      "  each += each->nodes;",
      "}",
      "to->items = items;",
      "to->count = value->count;",
      "return true;",
    ];
  }

  #add({ name, shape }: NamedType): string {
    const head = `clearway_gen_add_result ${this.adder(shape)}(clearway_values *values, const ${this.typeName(shape)} *from)`;
    if (shape.kind === "one-of") {
      const cases = enumerators(this.typeName(shape), shape.texts).map(
        ({ identifier, text }) =>
          `case ${identifier}: return clearway_add_text(values, ${cLiteral(text)}, ${new TextEncoder().encode(text).length}) ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM;`,
      );
      return cFunction(head, [
        "switch (*from) {",
        ...cases.map((each) => `  ${each}`),
        "  default: return CLEARWAY_GEN_INVALID;",
        "}",
      ]);
    }
    if (shape.kind === "nullable")
      return cFunction(head, [
        "if (!from->is_some) return clearway_add_null(values) ? CLEARWAY_GEN_ADDED : CLEARWAY_GEN_NO_ROOM;",
        `return ${this.adder(shape.of)}(values, &from->some);`,
      ]);
    const key = (text: string, size: string): string =>
      `if (clearway_add_text(values, ${text}, ${size}) == NULL) return CLEARWAY_GEN_NO_ROOM;`;
    const add = (of: TypeShape, value: string): string =>
      `if ((added = ${this.adder(of)}(values, ${value})) != CLEARWAY_GEN_ADDED) return added;`;
    const inside =
      shape.kind === "struct"
        ? fieldsOf(name, shape.fields).flatMap(({ identifier, field }) => [
            key(cLiteral(field.name), String(new TextEncoder().encode(field.name).length)),
            add(field.type, `&from->${identifier}`),
          ])
        : [
            "for (size_t at = 0; at < from->count; at++) {",
            ...(shape.kind === "map" ? [`  ${key("from->items[at].key.data", "from->items[at].key.size")}`] : []),
            `  ${add(shape.of, `&from->items[at]${shape.kind === "map" ? ".value" : ""}`)}`,
            "}",
          ];
    return cFunction(head, [
      "clearway_gen_add_result added = CLEARWAY_GEN_ADDED;",
      "(void)from;",
      // `container` stays valid, because the array of values does not move. If the array is full, the caller starts again with a larger array.
      `clearway_value *container = clearway_begin(values, ${shape.kind === "list" ? "CLEARWAY_KIND_LIST" : "CLEARWAY_KIND_MAP"});`,
      "if (container == NULL) return CLEARWAY_GEN_NO_ROOM;",
      ...inside,
      "return clearway_end(values, container) ? added : CLEARWAY_GEN_INVALID;",
    ]);
  }
}

/** Returns the code of a C function. */
export function cFunction(head: string, body: readonly string[]): string {
  return `CLEARWAY_GEN_FUNCTION ${head} {\n${body.map((line) => `  ${line}`).join("\n")}\n}`;
}

function fieldsOf<F extends { name: string }>(type: string, fields: readonly F[]): { identifier: string; field: F }[] {
  const names = new UniqueNames();
  return fields.map((field) => ({ identifier: names.reserve(snake(field.name), `${type}.${field.name}`), field }));
}

export function enumerators(type: string, texts: readonly string[]): { identifier: string; text: string }[] {
  const names = new UniqueNames();
  return texts.map((text) => ({
    identifier: names.reserve(`${screamingSnake(type)}_${screamingSnake(text)}`, JSON.stringify(text)),
    text,
  }));
}

function expectedTexts(texts: readonly string[]): string {
  return `one of ${texts.map((text) => JSON.stringify(text)).join(", ")}`;
}

/** Returns a text as a C literal. Bytes that are not printable ASCII become octal escapes, which always have three digits. */
export function cLiteral(text: string): string {
  quoted(text); // throws if UTF-8 cannot represent the text
  // The code compares and measures such literals as C strings.
  if (text.includes("\0"))
    throw new UnsupportedSchemaError(`a C string cannot have the character U+0000: ${JSON.stringify(text)}`);
  const plain = /[ !#-[\]-~]/;
  const bytes = [...new TextEncoder().encode(text)];
  const shown = bytes.map((byte) => {
    const character = String.fromCharCode(byte);
    // Escapes question marks, because "??=" and similar sequences are trigraphs.
    return plain.test(character) && character !== "?" ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${shown.join("")}"`;
}

/** Changes a text so that it cannot end the comment that contains it. */
export function escapeComment(text: string): string {
  return text
    .replaceAll("*/", "* /")
    .replaceAll("/*", "/ *")
    .replace(directions, "")
    .replace(/[^\S\n]/g, " ");
}
