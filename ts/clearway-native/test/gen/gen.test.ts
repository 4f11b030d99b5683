// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the generated code and calls it. The generated code decodes the calls, and these tests decode its replies.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type MethodReply, standardMethodCodec } from "clearway/channel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gen } from "../../src/gen/gen.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const native = here("../../../../native");
const schema = here("./thermometer.json");
const folder = mkdtempSync(join(tmpdir(), "clearway-gen-"));
const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const { call, reply } = standardMethodCodec;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function buildC(): string {
  const program = join(folder, "peer-c");
  const codec = readdirSync(join(native, "c/src"), { encoding: "utf8" })
    .filter((name) => name.endsWith(".c"))
    .map((name) => join(native, "c/src", name));
  const strict = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"];
  const include = [`-I${native}/include`, `-I${native}/c/include`, `-I${folder}`];
  execFileSync("cc", [...strict, ...include, here("./peer.c"), ...codec, "-o", program], { stdio: "pipe" });
  return program;
}

function buildRust(): string {
  const crate = join(folder, "peer-rust");
  mkdirSync(join(crate, "src"), { recursive: true });
  const manifest = `[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\nclearway-codec = { path = ${JSON.stringify(join(native, "crates/codec"))} }\n[workspace]\n`;
  writeFileSync(join(crate, "Cargo.toml"), manifest);
  copyFileSync(here("./peer.rs"), join(crate, "src/main.rs"));
  copyFileSync(join(folder, "thermometer.rs"), join(crate, "src/thermometer.rs"));
  const env = { ...process.env, RUSTFLAGS: "-D warnings" };
  execFileSync("cargo", ["build", "-q", "--offline"], { cwd: crate, env, stdio: "pipe" });
  return join(crate, "target/debug/peer");
}

beforeAll(async () => {
  expect(await gen(schema, { c: join(folder, "thermometer.h"), rust: join(folder, "thermometer.rs") })).toBe(0);
});

/** Runs a program with these calls. Returns its replies, followed by the event that it emits. */
function answers(program: string, calls: [method: string, args: unknown][]): (MethodReply | string)[] {
  const lines = calls.map(([method, args]) => Buffer.from(call.encode({ method, args })).toString("hex"));
  const out = execFileSync(program, { input: [...lines, "ff", ""].join("\n"), encoding: "utf8" });
  const read = (line: string) => (line.startsWith("status") ? line : reply.decode(Buffer.from(line, "hex")));
  return out.trimEnd().split("\n").map(read);
}

const everything = {
  any: [1, { a: null }],
  bool: true,
  i32: -(2 ** 31),
  int: 2 ** 53 - 1,
  i64: -(2n ** 63n),
  f64: 0.5,
  text: "Zoë \u0000 🙂",
  bytes: new Uint8Array([1, 2, 3]),
  i32s: new Int32Array([1, -2]),
  i64s: new BigInt64Array([1n, -2n]),
  f32s: new Float32Array([1.5]),
  f64s: new Float64Array([1.5, Number.POSITIVE_INFINITY]),
  list: [new Float64Array([1]), new Float64Array()],
  map: { a: 1, b: [2, "three"] },
  empty: {},
};

/** Returns the message with which `gen` refuses a schema, or "taken". */
const said = async (data: unknown, options = {}): Promise<string> => {
  const file = join(folder, "wrong.json");
  writeFileSync(file, JSON.stringify(data));
  return gen(file, { rust: join(folder, "no.rs"), c: join(folder, "no.h"), ...options }).then(
    () => "taken",
    (error) => error.message,
  );
};

const refused = (method: string, path: string, expected: string) => ({
  kind: "error",
  code: "invalid-argument",
  message: `lab/thermometer, ${method}: ${path} must be ${expected}`,
  details: null,
});
const units = 'one of "celsius", "kelvin", "°F?"';
const many = Array.from({ length: 3000 }, (_, at) => ({ [`place ${at}`]: { city: `city ${at}` } }));

describe.each([
  ["C", has("cc"), buildC],
  ["Rust", has("cargo"), buildRust],
] as const)("generated code for %s", (_, there, build) => {
  test.runIf(there)("compiles without a warning, decodes calls, and encodes replies that callers decode", () => {
    const reading = { level: 20, unit: "celsius", note: null, at: 2n ** 63n - 1n };
    const success = (value: unknown) => ({ kind: "success", value });
    const found = answers(build(), [
      ["level", { unit: "celsius" }],
      ["level", { unit: "°F?", samples: 5 }],
      ["history", { from: 7, places: many }],
      ["image", new Uint8Array(100_000).fill(7)],
      ["image", new Uint8Array()],
      ["everything", everything],
      ["reset", null],
      ["resets", null],
      ["reset", 5],
      ["level", { unit: "rankine" }],
      ["level", { unit: "kelvin", samples: 2 ** 31 }],
      ["level", null],
      ["everything", { ...everything, f64: 2n ** 53n + 1n }],
      ["everything", { ...everything, f64: 2n ** 63n - 1n }],
      ["history", { from: 0, places: [{}, { a: { city: 5 } }] }],
    ]);
    expect(found.slice(0, 9)).toEqual([
      success(reading),
      success({ ...reading, level: 5, unit: "°F?" }),
      success([null, { level: 0, unit: "°F?", note: "city 2999", at: 7 }]),
      success(new Uint8Array(100_000).fill(7)),
      { kind: "error", code: "EMPTY", message: "no pixels", details: null },
      success({ ...everything, i64: -(2n ** 63n) }),
      success(null),
      "status: not implemented",
      refused("reset", "args", "null"),
    ]);
    expect(found.slice(9, 14)).toEqual([
      refused("level", "args.unit", units),
      refused("level", "args.samples", "a whole number of 32 bits"),
      refused("level", "args", "an object"),
      // No float has this value.
      refused("everything", "args.f64", "a number"),
      refused("everything", "args.f64", "a number"),
    ]);
    expect(found[14]).toMatchObject({
      code: "invalid-argument",
      message: expect.stringMatching(/^lab\/thermometer, history: args\.places\[1\]\[("a"|0)\]\.city must be a text$/),
    });
    expect(found[15]).toBe("status: invalid argument");
    expect(found[16]).toEqual(success({ level: 7, unit: "kelvin", note: null, at: 0 }));
  });
});

describe("gen", () => {
  test.each([
    ["as plain data", (data: string) => data],
    ["checked by schema()", (data: string) => `schema(${data})`],
  ])("accepts a module that exports a schema %s, and writes the same code", async (how, exported) => {
    const data = readFileSync(schema, "utf8");
    const module = join(folder, `${how.length}.mjs`);
    const library = JSON.stringify(import.meta.resolve("clearway/channel"));
    const head = `import { schema } from ${library};\nexport const Thermometer = ${exported(data)};\n`;
    writeFileSync(module, `${head}export const other = 5;\nexport default Thermometer;`);
    const out = join(folder, "again.h");
    rmSync(out, { force: true });
    expect(await gen(module, { c: out })).toBe(0);
    expect(readFileSync(out, "utf8")).toBe(readFileSync(join(folder, "thermometer.h"), "utf8"));
    expect(await gen(schema, { c: out, check: true })).toBe(0);
    expect(await gen(schema, { c: out, check: true, name: "sensor" })).toBe(1);
  });

  test.runIf(has("rustfmt"))("writes Rust that rustfmt does not change", async () => {
    const out = join(folder, "thermometer.rs");
    execFileSync("rustfmt", ["--check", "--edition", "2024", out], { cwd: folder, stdio: "pipe" });
    expect(await gen(schema, { rust: out, check: true })).toBe(0);
  });

  test("names a schema's mistake and its place", async () => {
    expect(await said({ channel: "a", methods: { m: { args: "int32" } } })).toContain("methods.m.args must be one of");
    expect(await said({ channel: "a", methods: { getIt: {}, get_it: {} } })).toContain(
      "methods.get_it and methods.getIt would both be called",
    );
    expect(await said({ channel: "a", events: { getIt: { value: "i32" }, get_it: { value: "i32" } } })).toContain(
      "events.get_it and events.getIt would both be called",
    );
    const events = { getIt: { value: "i32" }, get_it: { value: "i32" } };
    expect(await said({ channel: "a", events }, { c: undefined })).toContain("would both be called write_get_it");
    expect(await said({ channel: "a", types: { result: { struct: { a: "i32" } } } })).toContain(
      "the type result and Rust's standard library would both be called Result",
    );
    expect(await said({ channel: "a", methods: { m: { args: { list: "null" } } } })).toContain(
      "the type null says nothing there",
    );
    expect(await said({ channel: "€" })).toContain("give one with --name");
    expect(await said({ channel: "clearway" })).toContain("Clearway's own");
    expect(await said({ channel: "a" }, { rust: undefined, c: undefined })).toContain("name what to write");
  });

  test.each<[string, object]>([
    [
      "item list",
      {
        types: { item: { struct: { list: { oneOf: ["a"] } } } },
        methods: { m: { result: { list: { ref: "item" } } } },
      },
    ],
    [
      "text or null",
      {
        types: { text: { struct: { a: "i32" } } },
        methods: { m: { args: { nullable: "text" }, result: { nullable: { ref: "text" } } } },
      },
    ],
    [
      "reading list",
      {
        types: { reading: { struct: { a: "i32" } }, "reading list": { struct: { b: "i32" } } },
        methods: { m: { result: { list: { ref: "reading" } } } },
      },
    ],
  ])("refuses a container that would have another type's name: %s", async (name, parts) => {
    expect(await said({ channel: "a", ...parts })).toContain(`two types would both be called ${name}`);
  });

  test("refuses names that would be equal in the C header, across types, events and enumerators", async () => {
    const both = { state: { oneOf: ["on", "error timeout"] }, stateError: { oneOf: ["timeout"] } };
    const methods = { m: { args: { ref: "state" }, result: { ref: "stateError" } } };
    expect(await said({ channel: "lamp", types: both, methods }, { rust: undefined })).toContain(
      "would both be called LAMP_STATE_ERROR_TIMEOUT",
    );
    const types = { state: { oneOf: ["channel"] } };
    expect(
      await said({ channel: "lamp", types, events: { state: { value: { ref: "state" } } } }, { rust: undefined }),
    ).toContain("would both be called LAMP_STATE_CHANNEL");
    expect(
      await said(
        { channel: "lamp", types: { state: { oneOf: ["a\0b"] } }, methods: { m: { args: { ref: "state" } } } },
        { rust: undefined },
      ),
    ).toContain("U+0000");
  });

  test.runIf(has("cc"))("writes C that compiles without -std, for fields called unix, linux and asm", async () => {
    const out = join(folder, "clock.h");
    const file = join(folder, "clock.json");
    const struct = { unix: "i64", linux: "bool", asm: "text" };
    writeFileSync(file, JSON.stringify({ channel: "clock", methods: { unix: { args: { struct } } } }));
    expect(await gen(file, { c: out })).toBe(0);
    const include = [`-I${native}/include`, `-I${native}/c/include`];
    execFileSync("cc", ["-Wall", "-Werror", "-fsyntax-only", "-x", "c", ...include, out], { stdio: "pipe" });
  });

  test.runIf(has("cc"))("writes C that compiles as C and as C++, for fields with names of C++ and errno", async () => {
    const out = join(folder, "words.h");
    const file = join(folder, "words.json");
    const names = ["errno", "class", "new", "delete", "this", "operator", "template", "namespace", "constCast", "xor"];
    const struct = Object.fromEntries(names.map((name) => [name, "text"]));
    const methods = { public: { args: { struct } } };
    writeFileSync(file, JSON.stringify({ channel: "words", methods }));
    expect(await gen(file, { c: out })).toBe(0);
    const include = ["-include", "errno.h", `-I${native}/include`, `-I${native}/c/include`];
    for (const language of has("c++") ? ["c", "c++"] : ["c"]) {
      execFileSync("cc", ["-Wall", "-Werror", "-fsyntax-only", "-x", language, ...include, out], { stdio: "pipe" });
    }
  });

  test("writes Rust with valid names for events that begin with a digit or have no value", async () => {
    const out = join(folder, "digits.rs");
    const file = join(folder, "digits.json");
    const events = { "3d": { value: "f64", doc: "left\u202eright" }, tick: { value: "null" } };
    writeFileSync(file, JSON.stringify({ channel: "digits", methods: { dispatch: {} }, events }));
    expect(await gen(file, { rust: out })).toBe(0);
    const text = readFileSync(out, "utf8");
    expect(text).toContain("pub const N3D_CHANNEL: &str");
    expect(text).toContain("/// leftright");
    expect(text).toContain("pub fn write_tick(_event: &())");
  });

  test.runIf(has("cc"))(
    "writes C that opens with the whole explanation, cut at a character, for a long list of texts",
    async () => {
      const out = join(folder, "cities.h");
      const file = join(folder, "cities.json");
      const oneOf = Array.from({ length: 60 }, (_, at) => `東京${at}`);
      writeFileSync(file, JSON.stringify({ channel: "cities", methods: { go: { args: { oneOf } } } }));
      expect(await gen(file, { c: out })).toBe(0);
      const main = join(folder, "cut.c");
      const texts = [
        "",
        "a",
        "\\303",
        "a\\346\\235",
        "a\\346\\235\\261",
        "\\360\\237\\231",
        "\\360\\237\\231\\202",
        "\\346\\235\\261\\346",
      ];
      const lines = texts.map(
        (text) => `strcpy(text, "${text}"); clearway_gen_cut_character(text); printf("%zu ", strlen(text));`,
      );
      writeFileSync(main, `#include "cities.h"\nint main(void) { char text[64]; ${lines.join(" ")} return 0; }\n`);
      const program = join(folder, "cut");
      const codec = readdirSync(join(native, "c/src"), { encoding: "utf8" })
        .filter((name) => name.endsWith(".c"))
        .map((name) => join(native, "c/src", name));
      const include = [`-I${native}/include`, `-I${native}/c/include`, `-I${folder}`];
      execFileSync("cc", ["-std=c11", ...include, main, ...codec, "-o", program], { stdio: "pipe" });
      expect(execFileSync(program, { encoding: "utf8" }).trim()).toBe("0 1 0 1 4 0 4 3");
    },
  );

  test.runIf(has("cc"))("writes C that compiles when an event's arguments have a type without a name", async () => {
    const out = join(folder, "lamp.h");
    const file = join(folder, "lamp.json");
    const args = { struct: { from: "i32" } };
    writeFileSync(file, JSON.stringify({ channel: "lamp", events: { changed: { args, value: "i32" } } }));
    expect(await gen(file, { c: out })).toBe(0);
    const include = [`-I${native}/include`, `-I${native}/c/include`];
    execFileSync("cc", ["-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c", ...include, out], {
      stdio: "pipe",
    });
  });

  test("keeps every text of a schema inside its quotes and comments", async () => {
    const nasty = 'x"; */ int y; /* \\" \n #error ?\u2028';
    const out = join(folder, "nasty.h");
    const rust = join(folder, "nasty.rs");
    const file = join(folder, "nasty.json");
    const struct = { [nasty]: "i32" };
    writeFileSync(
      file,
      JSON.stringify({
        channel: `nasty/${nasty}`,
        methods: { [nasty]: { doc: nasty, args: { struct }, result: { oneOf: [nasty] } } },
        events: { [nasty]: { value: "text", doc: nasty } },
      }),
    );
    expect(await gen(file, { c: out, rust, name: "nasty" })).toBe(0);
    for (const path of [out, rust]) expect(readFileSync(path, "utf8")).not.toMatch(/^ *(#error|int y)/m);
    if (!has("cc")) return;
    const include = [`-I${native}/include`, `-I${native}/c/include`];
    execFileSync("cc", ["-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c", ...include, out], {
      stdio: "pipe",
    });
  });
});
