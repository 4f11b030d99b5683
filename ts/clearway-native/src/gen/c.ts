// SPDX-License-Identifier: MIT OR Apache-2.0
import type { EventShape, MethodShape, TypeShape } from "clearway/channel";
import { cSupport } from "./c-support.js";
import { CTypes, comment, cText, func } from "./c-types.js";
import type { Model } from "./declare.js";
import { Names, quoted, SchemaRefusal, screaming, snake } from "./names.js";

/**
 * Returns the C header of a schema. It has the schema's types, a table for the functions of the methods, and functions that dispatch calls,
 * reply and emit events.
 */
export function cOf(model: Model, title: string): string {
  const { schema } = model;
  const prefix = snake(title);
  const upper = screaming(title);
  const types = new CTypes(model, prefix);
  checkNames(model, types, prefix);
  const where = (name: string): string => cText(`${schema.channel}, ${name}`);
  const channels = [
    "/** The channel of the methods. */",
    `#define ${upper}_CHANNEL ${cText(schema.channel)}`,
    ...schema.events.flatMap(({ name, channel }) => [
      `/** The channel of the event ${comment(quoted(name))}. */`,
      `#define ${upper}_${screaming(name)}_CHANNEL ${cText(channel)}`,
    ]),
  ];
  return [
    "// SPDX-License-Identifier: MIT OR Apache-2.0",
    `// Made by \`clearway-native gen\` from the schema of the channel ${comment(quoted(schema.channel))}; not edited by hand.`,
    "// C11, beside clearway.h and clearway_codec.h, with whose sources it is built.",
    `#ifndef CLEARWAY_GEN_${upper}_H`,
    `#define CLEARWAY_GEN_${upper}_H`,
    "",
    ...["stdbool", "stddef", "stdint", "stdio", "stdlib", "string"].map((name) => `#include <${name}.h>`),
    "",
    '#include "clearway.h"',
    '#include "clearway_codec.h"',
    "",
    cSupport,
    ...channels,
    "",
    ...model.types.flatMap((each) => [types.declare(each), ""]),
    ...(schema.methods.length > 0 ? [methodTable(types, prefix, schema.methods), ""] : []),
    ...schema.methods.flatMap((method) => [replyOf(types, prefix, method), ""]),
    ...(schema.methods.length > 0
      ? [
          `/** Answers a call with an error: a code for programs, and a text for people. */\n${func(
            `clearway_status ${prefix}_reply_error(const clearway_host *host, clearway_plugin_id plugin, clearway_reply reply, const char *code, const char *text)`,
            ["return clearway_gen_reply(host, plugin, reply, NULL, NULL, code, text);"],
          )}`,
          "",
          dispatchOf(types, prefix, schema.methods, where),
          "",
        ]
      : []),
    ...schema.events.flatMap((event) => [eventOf(types, prefix, event), ""]),
    "#endif",
    "",
  ].join("\n");
}

function methodTable(types: CTypes, prefix: string, methods: readonly MethodShape[]): string {
  return [
    "/**",
    " * The methods. Each answers by its own reply function, or by the one for errors, once: now or later, on any thread; a status",
    " * other than CLEARWAY_OK answers in its place. Arguments are there until the return. A null pointer is a method that is not",
    " * implemented.",
    " */",
    `typedef struct ${prefix}_methods {`,
    ...methods.flatMap(({ name, doc, args }) => [
      `  /** ${comment(doc || `The method ${quoted(name)}.`).replaceAll("\n", "\n   *  ")} */`,
      `  clearway_status (*${snake(name)})(void *context, ${args.kind === "null" ? "" : `${types.pointer(args, "args")}, `}clearway_reply reply);`,
    ]),
    `} ${prefix}_methods;`,
  ].join("\n");
}

/**
 * Returns the name and the code of the function that adds a value to a message. For the type null, the name is "NULL" and there is no code.
 */
function adderOf(types: CTypes, name: string, shape: TypeShape): { adder: string; code: string } {
  if (shape.kind === "null") return { adder: "NULL", code: "" };
  const star = types.pointer(shape, "").trimEnd();
  return {
    adder: name,
    code: `${func(`clearway_gen_added ${name}(clearway_values *values, const void *from)`, [
      `return ${types.adder(shape)}(values, (${star})from);`,
    ])}\n\n`,
  };
}

function replyOf(types: CTypes, prefix: string, { name, result }: MethodShape): string {
  const { adder, code } = adderOf(types, `${prefix}_add_result_of_${snake(name)}`, result);
  const given = result.kind === "null" ? "" : `, ${types.pointer(result, "result")}`;
  return `${code}/** Answers a call of ${comment(quoted(name))}; copies the result into the message. CLEARWAY_STALE where nobody waits any more. */\n${func(
    `clearway_status ${prefix}_reply_${snake(name)}(const clearway_host *host, clearway_plugin_id plugin, clearway_reply reply${given})`,
    [
      `return clearway_gen_reply(host, plugin, reply, ${adder}, ${result.kind === "null" ? "NULL" : "result"}, NULL, NULL);`,
    ],
  )}`;
}

function dispatchOf(
  types: CTypes,
  prefix: string,
  methods: readonly MethodShape[],
  where: (name: string) => string,
): string {
  const cases = methods.flatMap(({ name, args }) => {
    const own = snake(name);
    const test = `if (clearway_text_is(call.method, ${cText(name)})) {`;
    const implemented = `  if (methods->${own} == NULL) goto done;`;
    if (args.kind === "null")
      return [
        test,
        implemented,
        `  if (!clearway_gen_is_null(call.arguments)) clearway_gen_refuse(&misfit, "null");`,
        `  status = misfit.expected == NULL ? methods->${own}(context, reply) : clearway_gen_reply_misfit(host, plugin, reply, ${where(name)}, &misfit);`,
        "  goto done;",
        "}",
      ];
    return [
      test,
      implemented,
      `  ${types.variable(args, "args")};`,
      `  status = ${types.reader(args)}(call.arguments, &arena, &misfit, &args)`,
      `               ? methods->${own}(context, &args, reply)`,
      `               : clearway_gen_reply_misfit(host, plugin, reply, ${where(name)}, &misfit);`,
      "  goto done;",
      "}",
    ];
  });
  return [
    "/**",
    " * Calls the method that a message names; for the `on_message` of a handler. Arguments that do not fit are answered with an error,",
    " * and no method sees them. Allocates for the call, and frees before it returns.",
    " */",
    func(
      `clearway_status ${prefix}_dispatch(const ${prefix}_methods *methods, void *context, const clearway_host *host, clearway_plugin_id plugin, const clearway_content *message, clearway_reply reply)`,
      [
        "clearway_gen_arena arena = {0};",
        "clearway_gen_misfit misfit = {0};",
        "clearway_values values = {0};",
        "clearway_method_call call = {0};",
        "clearway_status status = CLEARWAY_NOT_IMPLEMENTED;",
        "if (clearway_gen_read_call(message, &values, &call) != CLEARWAY_CODEC_OK) {",
        "  status = CLEARWAY_INVALID_ARGUMENT;",
        "  goto done;",
        "}",
        ...cases,
        "done:",
        "clearway_gen_free(&arena);",
        "free(values.at);",
        "return status;",
      ],
    ),
  ].join("\n");
}

function eventOf(types: CTypes, prefix: string, { name, args, value, doc }: EventShape): string {
  const own = snake(name);
  const { adder, code } = adderOf(types, `${prefix}_add_value_of_${own}`, value);
  const emit = `/** ${comment(doc || `Emits an event ${quoted(name)}.`).replaceAll("\n", "\n *  ")} Copies the value into the message; answers what \`emit\` of the host does. */\n${func(
    `clearway_status ${prefix}_emit_${own}(const clearway_host *host, clearway_plugin_id plugin, clearway_stream stream${value.kind === "null" ? "" : `, ${types.pointer(value, "value")}`})`,
    [`return clearway_gen_emit(host, plugin, stream, ${adder}, ${value.kind === "null" ? "NULL" : "value"});`],
  )}`;
  if (args.kind === "null") return `${code}${emit}`;
  const read = [
    "/**",
    ` * What a listener of ${comment(quoted(name))} says, from the arguments of \`on_listen\`. Texts and lists point into those, or into memory of`,
    " * the arena's, which the caller frees with clearway_gen_free.",
    " */",
    func(
      `clearway_status ${prefix}_read_${own}_args(const clearway_content *arguments, clearway_gen_arena *arena, ${types.of(args)} *args)`,
      [
        "clearway_gen_misfit misfit = {0};",
        "clearway_values values = {0};",
        "clearway_method_call call = {0};",
        "bool fits = clearway_gen_read_call(arguments, &values, &call) == CLEARWAY_CODEC_OK &&",
        `            ${types.reader(args)}(call.arguments, arena, &misfit, args);`,
        ...(holdsAny(args)
          ? [
              "// A value of any type points into these.",
              "void **kept = (void **)clearway_gen_take(arena, 1, 1);",
              "if (kept == NULL) fits = false;",
              "if (kept != NULL) {",
              "  free(kept);",
              "  arena->blocks[arena->count - 1] = values.at;",
              "} else {",
              "  free(values.at);",
              "}",
            ]
          : ["free(values.at);"]),
        "return fits ? CLEARWAY_OK : CLEARWAY_INVALID_ARGUMENT;",
      ],
    ),
  ];
  return `${code}${emit}\n\n${read.join("\n")}`;
}

/** Returns whether a type is `any` or contains it. */
function holdsAny(shape: TypeShape): boolean {
  if (shape.kind === "struct") return shape.fields.some(({ type }) => holdsAny(type));
  return shape.kind === "any" || ("of" in shape && holdsAny(shape.of));
}

/** Throws {@link SchemaRefusal} if two names in the header would be equal, or if the prefix is Clearway's own. */
function checkNames({ types, schema }: Model, c: CTypes, prefix: string): void {
  if (prefix === "clearway" || prefix.startsWith("clearway_"))
    throw new SchemaRefusal(`names that begin with clearway_ are Clearway's own; give another with --name`);
  const names = new Names();
  for (const own of ["methods", "dispatch", "reply_error"]) names.take(`${prefix}_${own}`, "the header");
  for (const { name, shape } of types) {
    for (const each of [c.of(shape), c.reader(shape), c.adder(shape)]) names.take(each, `the type ${name}`);
    if (shape.kind === "map") names.take(`${c.of(shape)}_entry`, `the type ${name}`);
  }
  for (const { name } of schema.methods) {
    for (const verb of ["reply", "add_result_of"]) names.take(`${prefix}_${verb}_${snake(name)}`, `methods.${name}`);
  }
  for (const { name } of schema.events) {
    for (const verb of ["emit", "add_value_of"]) names.take(`${prefix}_${verb}_${snake(name)}`, `events.${name}`);
    if (name) names.take(`${prefix}_read_${snake(name)}_args `, `events.${name}`);
  }
}
