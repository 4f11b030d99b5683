// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TypeShape } from "clearway/channel";
import type { Declared, Model } from "./declare.js";
import { Names, pascal, quoted, screaming, snake, words } from "./names.js";
import { rustSupport } from "./rust-support.js";

const scalars: Record<string, string> = {
  any: "Value",
  null: "()",
  bool: "bool",
  i32: "i32",
  int: "i64",
  i64: "i64",
  f64: "f64",
  text: "String",
  bytes: "Vec<u8>",
  i32s: "Vec<i32>",
  i64s: "Vec<i64>",
  f32s: "Vec<f32>",
  f64s: "Vec<f64>",
};

/** The expressions that convert a scalar to a value of the codec, by type. `value` is the code of a reference to the scalar. */
const written: Record<string, (value: string) => string> = {
  any: (value) => `${value}.clone()`,
  null: () => "Value::Null",
  bool: (value) => `Value::Bool(*${value})`,
  i32: (value) => `Value::Int(i64::from(*${value}))`,
  int: (value) => `Value::Int(*${value})`,
  i64: (value) => `Value::Int(*${value})`,
  f64: (value) => `Value::Float(*${value})`,
  text: (value) => `Value::Text(${value}.clone())`,
  bytes: (value) => `Value::Bytes(${value}.clone())`,
  i32s: (value) => `Value::Int32s(${value}.clone())`,
  i64s: (value) => `Value::Int64s(${value}.clone())`,
  f32s: (value) => `Value::Float32s(${value}.clone())`,
  f64s: (value) => `Value::Float64s(${value}.clone())`,
};

/** Returns the Rust module of a schema. It has the schema's types, a trait with its methods, a dispatcher, and functions for its events. */
export function rustOf(model: Model, title: string): string {
  const { schema } = model;
  const names = new Names();
  for (const own of ["Value", "Call", "Error", "Limits", "Reply", "Misfit", "MethodError"])
    names.take(own, "the codec");
  const trait = names.take(pascal(title), "the channel");
  const structs = model.types.filter(({ shape }) => shape.kind === "struct" || shape.kind === "one-of");
  for (const { name } of structs) names.take(pascal(name), `the type ${name}`);
  const functions = new Names();
  functions.take("dispatch", "the dispatcher");
  for (const { name } of schema.methods) functions.take(snake(name), `methods.${name}`);
  return [
    "// SPDX-License-Identifier: MIT OR Apache-2.0",
    `// Made by \`clearway-native gen\` from the schema of the channel ${rustText(schema.channel)}; not edited by hand.`,
    "// Uses the crate clearway-codec.",
    "",
    `use clearway_codec::{${schema.methods.length > 0 ? "Call, " : ""}Error, Limits, Reply, Value, standard};`,
    "",
    "/// The channel of the methods.",
    `pub const CHANNEL: &str = ${rustText(schema.channel)};`,
    ...schema.events.flatMap(({ name, channel }) => [
      `/// The channel of the event ${rustText(name)}.`,
      `pub const ${screaming(name)}_CHANNEL: &str = ${rustText(channel)};`,
    ]),
    "",
    ...structs.flatMap((each) => [each.shape.kind === "struct" ? structOf(model, each) : enumOf(each), ""]),
    ...(schema.methods.length > 0 ? [traitOf(model, trait), "", dispatchOf(model, trait), ""] : []),
    ...schema.events.flatMap((event) => [
      doc(event.doc || `The message of an event ${rustText(event.name)}.`),
      `pub fn write_${snake(event.name)}(event: &${typeOf(model, event.value)}) -> Result<Vec<u8>, Error> {`,
      `    reply(Ok(${writeOf(event.value, "event")}))`,
      "}",
      "",
      `/// What a listener of ${rustText(event.name)} says: the arguments of its \`listen\`.`,
      `pub fn read_${snake(event.name)}_args(listen: &[u8]) -> Result<${typeOf(model, event.args)}, MethodError> {`,
      "    let call = standard::read_call(listen, Limits::DEFAULT).map_err(unreadable)?;",
      `    read::inside(${readOf(model, event.args, "&call.args")}, || "args".into()).map_err(|misfit| refused(${rustText(event.name)}, &misfit))`,
      "}",
      "",
    ]),
    ...(schema.methods.length + schema.events.length > 0 ? [refusals(schema.events.length > 0), ""] : []),
    rustSupport,
  ].join("\n");
}

function structOf(model: Model, { name, shape }: Declared): string {
  if (shape.kind !== "struct") return "";
  const names = new Names();
  const fields = shape.fields.map(({ name: field, type }) => ({
    field,
    own: names.take(snake(field), `${name}.${field}`),
    type,
  }));
  const type = pascal(name);
  return [
    `/// The type \`${words(name).join(" ")}\` of the schema.`,
    "#[derive(Clone, Debug, PartialEq)]",
    `pub struct ${type} {`,
    ...fields.flatMap(({ field, own, type: held }) => [
      `    /// ${rustText(field)}`,
      `    pub ${own}: ${typeOf(model, held)},`,
    ]),
    "}",
    "",
    `impl ${type} {`,
    "    /// Reads it from a value of the wire.",
    "    pub fn read(value: &Value) -> Result<Self, Misfit> {",
    ...(fields.length > 0
      ? [
          "        let value = read::object(value)?;",
          "        Ok(Self {",
          ...fields.map(
            ({ field, own, type: held }) =>
              `            ${own}: read::field(value, ${rustText(field)}, |value| ${readOf(model, held, "value")})?,`,
          ),
          "        })",
        ]
      : ["        read::object(value)?;", "        Ok(Self {})"]),
    "    }",
    "",
    "    /// Makes a value of the wire of it.",
    "    pub fn write(&self) -> Value {",
    "        Value::Map(vec![",
    ...fields.map(
      ({ field, own, type: held }) => `            (${rustText(field)}.into(), ${writeOf(held, `(&self.${own})`)}),`,
    ),
    "        ])",
    "    }",
    "}",
  ].join("\n");
}

function enumOf({ name, shape }: Declared): string {
  if (shape.kind !== "one-of") return "";
  const names = new Names();
  const texts = shape.texts.map((text) => ({ text, own: names.take(pascal(text), `${name}: ${rustText(text)}`) }));
  const expected = `one of ${shape.texts.map((text) => rustText(text)).join(", ")}`;
  return [
    `/// The type \`${words(name).join(" ")}\` of the schema.`,
    "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]",
    `pub enum ${pascal(name)} {`,
    ...texts.flatMap(({ text, own }) => [`    /// ${rustText(text)}`, `    ${own},`]),
    "}",
    "",
    `impl ${pascal(name)} {`,
    "    /// Reads it from a value of the wire.",
    "    pub fn read(value: &Value) -> Result<Self, Misfit> {",
    `        const EXPECTED: &str = ${rustText(expected)};`,
    "        let Value::Text(text) = value else { return read::misfit(EXPECTED) };",
    "        match text.as_str() {",
    ...texts.map(({ text, own }) => `            ${rustText(text)} => Ok(Self::${own}),`),
    "            _ => read::misfit(EXPECTED),",
    "        }",
    "    }",
    "",
    "    /// Makes a value of the wire of it.",
    "    pub fn write(&self) -> Value {",
    "        match self {",
    ...texts.map(({ text, own }) => `            Self::${own} => ${rustText(text)}.into(),`),
    "        }",
    "    }",
    "}",
  ].join("\n");
}

function traitOf(model: Model, trait: string): string {
  return [
    `/// The methods of the channel ${rustText(model.schema.channel)}. They may be called on several threads at once.`,
    `pub trait ${trait} {`,
    ...model.schema.methods.flatMap(({ name, doc: text, args, result }) => {
      const given = args.kind === "null" ? "&self" : `&self, args: ${typeOf(model, args)}`;
      return [
        `    ${doc(text || `The method ${rustText(name)}.`).replaceAll("\n", "\n    ")}`,
        `    fn ${snake(name)}(${given}) -> Result<${typeOf(model, result)}, MethodError>;`,
      ];
    }),
    "}",
  ].join("\n");
}

function dispatchOf(model: Model, trait: string): string {
  return [
    "/// Calls the method that a message names, and gives the reply's message; no bytes where there is no such method. Arguments that",
    "/// do not fit are answered with an error, and no method sees them.",
    `pub fn dispatch(handler: &impl ${trait}, message: &[u8]) -> Result<Vec<u8>, Error> {`,
    "    let Call { method, args } = standard::read_call(message, Limits::DEFAULT)?;",
    '    let at = || String::from("args");',
    "    match method.as_str() {",
    ...model.schema.methods.map(({ name, args, result }) => {
      const called = `handler.${snake(name)}(${args.kind === "null" ? "" : "args"})`;
      const value = result.kind === "null" ? "|()| Value::Null" : `|given| ${writeOf(result, "(&given)")}`;
      const bound = args.kind === "null" ? "()" : "args";
      return [
        `        ${rustText(name)} => match read::inside(${readOf(model, args, "&args")}, at) {`,
        `            Ok(${bound}) => reply(${called}.map(${value})),`,
        `            Err(misfit) => reply(Err(refused(${rustText(name)}, &misfit))),`,
        "        },",
      ].join("\n");
    }),
    "        _ => Ok(Vec::new()),",
    "    }",
    "}",
  ].join("\n");
}

function refusals(events: boolean): string {
  return [
    "fn refused(name: &str, misfit: &Misfit) -> MethodError {",
    '    let message = format!("{CHANNEL}, {name}: {misfit}");',
    '    MethodError { code: "invalid-argument".into(), message, details: Value::Null }',
    "}",
    ...(events
      ? [
          "",
          "fn unreadable(error: Error) -> MethodError {",
          "    MethodError { code: error.code.name().into(), message: error.to_string(), details: Value::Null }",
          "}",
        ]
      : []),
  ].join("\n");
}

function typeOf(model: Model, shape: TypeShape): string {
  switch (shape.kind) {
    case "struct":
    case "one-of":
      return pascal(model.nameOf(shape));
    case "list":
      return `Vec<${typeOf(model, shape.of)}>`;
    case "map":
      return `Vec<(String, ${typeOf(model, shape.of)})>`;
    case "nullable":
      return `Option<${typeOf(model, shape.of)}>`;
    default:
      return scalars[shape.kind] ?? "Value";
  }
}

function readOf(model: Model, shape: TypeShape, value: string): string {
  switch (shape.kind) {
    case "struct":
    case "one-of":
      return `${pascal(model.nameOf(shape))}::read(${value})`;
    case "list":
    case "map":
    case "nullable":
      return `read::${shape.kind}(${value}, |value| ${readOf(model, shape.of, "value")})`;
    default:
      return `read::${shape.kind === "null" ? "nothing" : shape.kind}(${value})`;
  }
}

/** Returns an expression that makes a value of the codec. `value` is the code of a reference. */
function writeOf(shape: TypeShape, value: string): string {
  switch (shape.kind) {
    case "struct":
    case "one-of":
      return `${value}.write()`;
    case "list":
      return `Value::List(${value}.iter().map(|each| ${writeOf(shape.of, "each")}).collect())`;
    case "map":
      return `Value::Map(${value}.iter().map(|(key, each)| (key.as_str().into(), ${writeOf(shape.of, "each")})).collect())`;
    case "nullable":
      return `${value}.as_ref().map_or(Value::Null, |some| ${writeOf(shape.of, "some")})`;
    default:
      return written[shape.kind]?.(value) ?? "Value::Null";
  }
}

/** Returns a text as a Rust literal, in one line. */
function rustText(text: string): string {
  return quoted(text).replace(/\\(u([0-9a-f]{4})|.)/g, (escaped, short: string, digits: string | undefined) => {
    if (digits !== undefined) return `\\u{${digits}}`;
    return short === "b" ? "\\u{8}" : short === "f" ? "\\u{c}" : escaped;
  });
}

function doc(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `/// ${line}`.trimEnd())
    .join("\n");
}
