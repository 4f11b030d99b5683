// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: pyarrow is a process of its own, and reads and writes what no host changes.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as arrow from "apache-arrow";
import { bool, date, list, nullable, record, struct, tableFromArrow, tableFromRows, text, u8 } from "clearway/records";
import { beforeAll, describe, expect, test } from "vitest";
import { Everything, everything, everyValue, plain, thrown } from "./students.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
// Installed by `scripts/setup.sh python`, which `make test` runs first.
const python = here("../../../../.cache/python/bin/python3");

/** Returns the contents of an IPC stream as pyarrow reads them. */
function pyarrow(stream: Uint8Array): { types: Record<string, string>; nullable: string[]; rows: unknown[] } {
  if (!existsSync(python)) throw new Error("there is no Python with pyarrow: run scripts/setup.sh python");
  const { stdout, stderr, status } = spawnSync(python, [here("./arrow.py"), "read"], {
    input: stream,
    maxBuffer: 1 << 26,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Returns values as the Python program prints them: whole numbers as strings. */
function printed(value: unknown, whole: ReadonlySet<string>, name = ""): unknown {
  if (typeof value === "bigint" || (typeof value === "number" && whole.has(name))) return String(value);
  if (Array.isArray(value)) return value.map((each) => printed(each, whole, name));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, printed(each, whole, key)]));
}

const floats = new Set(["single", "double", "numbers", "x", "raw", "blob"]);
const wholeNames = new Set(["code", ...Everything.shapes.map(({ name }) => name)].filter((name) => !floats.has(name)));

const tables = {
  "several chunks": () => everything(150, 40),
  "one chunk": () => everything(33),
  "a slice that begins inside a byte of bits, across chunks": () => everything(150, 40).slice(37, 131),
  "a slice of one row": () => everything(20).slice(13, 14),
  "no rows": () => everything(0),
};
const rowsOf = (name: keyof typeof tables): unknown[] => plain(tables[name]().toObjects({})) as unknown[];

describe.each(Object.keys(tables) as (keyof typeof tables)[])("a table converted to an Arrow table: %s", (name) => {
  test("is read by the Arrow library from an IPC stream, with every type and null", async () => {
    const stream = arrow.tableToIPC(await tables[name]().toArrow(), "stream");
    const back = await Everything.fromArrow(arrow.tableFromIPC(stream));
    expect(plain(back.toObjects())).toEqual(rowsOf(name));
  });

  test("is converted back from the Arrow table itself", async () => {
    const back = await Everything.fromArrow(await tables[name]().toArrow());
    expect(plain(back.toObjects())).toEqual(rowsOf(name));
  });

  test("is read by pyarrow from an IPC stream, with every type and null", async () => {
    const read = pyarrow(arrow.tableToIPC(await tables[name]().toArrow(), "stream"));
    expect(read.rows).toEqual(rowsOf(name).map((row) => printed(row, wholeNames)));
    expect(read.nullable).toEqual(Everything.shapes.filter((shape) => shape.nullable).map((shape) => shape.name));
    expect(read.types).toMatchObject({
      yes: "bool",
      c64: "uint64",
      single: "float",
      plain: "string",
      word: "dictionary<values=string, indices=int32, ordered=0>",
      raw: "binary",
      nano: "timestamp[ns, tz=UTC]",
      numbers: "list<item: double not null>",
      labels: "list<item: string not null>",
      born: "date32[day]",
    });
  });
});

describe("the conversion to Arrow", () => {
  test("is valid for null structs over columns without nulls, also with dictionaries", async () => {
    const Places = record({ at: nullable(struct({ word: text({ dictionary: true }), name: text(), tags: list(u8) })) });
    const at = { word: "w", name: "n", tags: [1] };
    const table = Places.tableOf([{}, {}, {}, { at: null }, { at }, {}], { rowsPerChunk: 2 });
    const { rows } = pyarrow(arrow.tableToIPC(await table.toArrow(), "stream"));
    expect(rows).toEqual([...Array(4).fill({ at: null }), { at: { ...at, tags: ["1"] } }, { at: null }]);
  });

  test("copies nothing: the vectors are views of the table's memory", async () => {
    const table = everything(50, 50);
    const [batch] = (await table.toArrow()).batches;
    const [chunk] = table.toMessage().chunks;
    const buffers = (data: arrow.Data): ArrayBufferLike[] =>
      [data.values, data.valueOffsets, data.nullBitmap, data.dictionary?.data[0]?.values]
        .filter((view) => view?.byteLength > 0)
        .map((view) => view.buffer)
        .concat(data.children.flatMap(buffers));
    const all = buffers(batch?.data as arrow.Data);
    expect(all.length).toBeGreaterThan(40);
    expect(new Set(all)).toEqual(new Set([chunk?.data]));
  });
});

describe("the conversion from Arrow", () => {
  test("infers the columns of a table from another library", async () => {
    const made = arrow.tableFromArrays({ a: Float64Array.of(1, 2), s: ["x", "y"], n: [1, null] });
    const table = await tableFromArrow(made);
    expect(table.toObjects()).toEqual([
      { a: 1, s: "x", n: 1 },
      { a: 2, s: "y", n: null },
    ]);
    expect(table.schema.shapes.map(({ kind }) => kind)).toEqual(["f64", "text", "f64"]);
  });

  test("accepts a nullable Arrow column for a column without nulls, and refuses an actual null", async () => {
    const Wanted = record({ s: text({ dictionary: true }) });
    expect((await Wanted.fromArrow(arrow.tableFromArrays({ s: ["x"] }))).toObjects()).toEqual([{ s: "x" }]);
    await expect(Wanted.fromArrow(arrow.tableFromArrays({ s: ["x", null] }))).rejects.toMatchObject({
      code: "protocol",
    });
  });

  test("ignores what is under a null struct and under a null list, and refuses a null elsewhere", async () => {
    const Wanted = record({ at: nullable(struct({ x: u8, day: date })), items: nullable(list(u8)) });
    const builder = arrow.makeBuilder({
      type: new arrow.Struct([
        new arrow.Field("x", new arrow.Uint8(), true),
        new arrow.Field("day", new arrow.DateMillisecond(), true),
      ]),
      nullValues: [null],
    });
    for (const each of [{ x: 1, day: 0 }, null, { x: 3, day: 86_400_000 }]) builder.append(each as never);
    const at = builder.finish().toVector();
    const items = (...nulls: number[]): arrow.Vector =>
      new arrow.Vector([
        arrow.makeData({
          type: new arrow.List(new arrow.Field("item", new arrow.Uint8(), true)),
          length: 3,
          nullCount: 1,
          nullBitmap: Uint8Array.of(0b101),
          valueOffsets: Int32Array.of(0, 1, 2, 3),
          child: arrow.vectorFromArray(
            [0, 1, 2].map((n) => (nulls.includes(n) ? null : n)),
            new arrow.Uint8(),
          ).data[0]!,
        }),
      ]);
    expect((await Wanted.fromArrow(new arrow.Table({ at, items: items(1) }))).toObjects()).toEqual([
      { at: { x: 1, day: 0 }, items: Uint8Array.of(0) },
      { at: null, items: null },
      { at: { x: 3, day: 1 }, items: Uint8Array.of(2) },
    ]);
    await expect(Wanted.fromArrow(new arrow.Table({ at, items: items(1, 2) }))).rejects.toThrow("lists with nulls");
    const missing = new arrow.Table({
      at: arrow.vectorFromArray([{ x: null, day: null }], at.type),
      items: items(1).slice(0, 1),
    });
    await expect(Wanted.fromArrow(missing)).rejects.toThrow('column "at.x" of the Arrow table is not nullable');
  });

  test("refuses columns of another type, and unsupported types, by name", async () => {
    const Wanted = record({ s: u8 });
    await expect(Wanted.fromArrow(arrow.tableFromArrays({ s: ["x"] }))).rejects.toMatchObject({ code: "protocol" });
    const times = new arrow.Table({ d: arrow.vectorFromArray([1], new arrow.TimeMillisecond()) });
    await expect(tableFromArrow(times)).rejects.toMatchObject({
      code: "invalid-argument",
      message:
        "tables have no columns of Arrow's type Time32<MILLISECOND>: d. Cast the column to another type, or leave it out.",
      column: "d",
      type: "Time32<MILLISECOND>",
    });
  });

  test("leaves the Arrow table's memory intact", async () => {
    const made = arrow.tableFromArrays({ a: Float64Array.of(1, 2) });
    (await tableFromArrow(made)).release();
    expect(made.getChild("a")?.get(1)).toBe(2);
  });
});

test("lists of booleans keep their bits in both directions, at any bit offset", async () => {
  const Flags = record({ flags: nullable(list(bool)) });
  const rows = Array.from({ length: 30 }, (_, at) => ({
    flags: at % 4 === 0 ? null : Array.from({ length: at % 7 }, (_, each) => (each + at) % 3 === 0),
  }));
  const back = await Flags.fromArrow(await Flags.tableOf(rows).slice(3, 29).toArrow());
  expect(back.toObjects()).toEqual(rows.slice(3, 29));
});

test("a program without apache-arrow gets an error that says what to install", () => {
  // Uses the built entry as a user has it; the resolve hook makes the package unavailable.
  const script = `
    import { register } from "node:module";
    const hook = "export const resolve = (name, context, next) => { if (name === 'apache-arrow') throw new Error('not found'); return next(name, context); }";
    register("data:text/javascript," + encodeURIComponent(hook));
    const { record, u8 } = await import("clearway/records");
    await record({ a: u8 }).table().finish().toArrow().catch(({ code, message }) => console.log(code + ": " + message));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: here("."),
    encoding: "utf8",
  });
  expect(stdout.trim()).toBe(
    'missing-package: Arrow tables need the package apache-arrow: npm install apache-arrow; a bundle also needs import "clearway/records/arrow"',
  );
});

test("the expected rows of these tests are the pushed rows", () => {
  expect(plain(everything(30).toObjects())).toEqual(Array.from({ length: 30 }, (_, at) => everyValue(at)));
  expect(thrown(() => everything(30))).toBeUndefined();
});

// The streams that pyarrow writes, by name.
let streams: Record<string, string>;
beforeAll(() => {
  const { stdout, stderr, status } = spawnSync(python, [here("./arrow.py"), "write"], {
    maxBuffer: 1 << 26,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr ?? "there is no Python with pyarrow: run scripts/setup.sh python");
  streams = JSON.parse(stdout);
});
const written = (name: string): arrow.Table => arrow.tableFromIPC(Buffer.from(streams[name] ?? "", "base64"));

const long = "more than twelve bytes";
const texts = ["", "a", null, "twelve bytes", `${long} é`, "x".repeat(300)];
const raw = texts.map((each) => each && [...new TextEncoder().encode(each)]).map((each) => (each === "" ? [] : each));
const days = [0, 19_000, null, -1, 2_932_896, -719_162];
const labels = [[], ["a"], null, ["", long], ["x".repeat(300), "b", "c"], ["é"]];
const words = ["zero", "one", null, "one", "zero", long];
const expected: Record<string, unknown[]> = {
  large: texts,
  view: texts,
  large_raw: raw,
  view_raw: raw,
  date32: days,
  date64: days,
  labels,
  large_labels: labels,
  view_labels: labels,
  numbers: [[1.5], [], null, [2, 3], [4], [5]],
  wide_codes: words,
  large_words: words,
  small_codes: words,
  place: texts.map((city, at) => ({ city, day: days[at] })),
};

describe("a table that pyarrow wrote with the types of polars and other libraries", () => {
  let theirs: arrow.Table;
  beforeAll(() => {
    theirs = written("supported");
  });
  const twice = <T>(values: T[]): T[] => [...values, ...values.slice(1, 5)];

  test.each(Object.keys(expected))("is read in every batch, with nulls: %s", async (name) => {
    const table = await tableFromArrow(theirs.select([name]));
    expect(plain([...table.column(name)].map((each) => (each as { toJSON?(): unknown })?.toJSON?.() ?? each))).toEqual(
      twice(expected[name]!),
    );
  });

  test.each(Object.keys(expected))("is read from a slice that begins in the middle: %s", async (name) => {
    const table = await tableFromArrow(theirs.select([name]).slice(3, 8));
    const values = [...table.column(name)].map((each) => (each as { toJSON?(): unknown })?.toJSON?.() ?? each);
    expect(plain(values)).toEqual(twice(expected[name]!).slice(3, 8));
  });

  test("is converted to a record's own columns and back", async () => {
    const Mine = record({ view: nullable(text()), date64: nullable(date), view_labels: nullable(list(text())) });
    const table = await Mine.fromArrow(theirs.select(["view", "date64", "view_labels"]));
    const again = await Mine.fromArrow(arrow.tableFromIPC(arrow.tableToIPC(await table.toArrow())));
    expect(again.toObjects()).toEqual(table.toObjects());
    expect(table.at(3)).toMatchObject({ view: "twelve bytes", date64: -1, view_labels: ["", long] });
  });
});

test.each([
  ["time", "Time32<MILLISECOND>"],
  ["duration", "Duration<MILLISECOND>"],
  ["decimal", "Decimal"],
  ["half", "Float16"],
  ["fixed", "FixedSizeBinary[2]"],
  ["fixed_list", "FixedSizeList[2]<Int32>"],
  ["nested_list", "List<List<Int32>>"],
  ["dates_list", "List<Date32<DAY>>"],
  ["structs_list", "List<Struct<{a:Int32}>>"],
  ["map", "Map<{key:Utf8, value:Int32}>"],
  ["nothing", "Null"],
  ["number_codes", "Dictionary<Int32, Int64>"],
  ["nulls_in_list", "List<Int32>"],
  ["nulls_in_texts", "List<Utf8>"],
  ["interval", "Interval<MONTH_DAY_NANO>"],
])("a column of an unsupported Arrow type is refused with its name and type: %s", async (name, type) => {
  const error = await tableFromArrow(written(name)).catch((reason) => reason);
  expect(error).toMatchObject({ code: "invalid-argument", column: name });
  expect(error.type).toContain(type);
  expect(error.message).toContain(`: ${name}. Cast the column`);
});

test("an Arrow Date64 that is not a whole day is refused with column and row", async () => {
  const ms = arrow.makeData({ type: new arrow.DateMillisecond(), data: BigInt64Array.of(86_400_000n, 1500n) });
  const error = await tableFromArrow(new arrow.Table({ d: new arrow.Vector([ms]) })).catch((reason) => reason);
  expect(error).toMatchObject({ code: "protocol" });
  expect(error.message).toContain('column "d" of the Arrow table has 1500 ms in row 1');
});

describe("a date", () => {
  const Born = record({ day: date });

  test("is written as a number of days or as a Date at midnight UTC, and read as days", () => {
    const written = [0, -5, new Date("2024-02-29"), new Date("1969-12-31T00:00:00Z"), 2 ** 31 - 1, -(2 ** 31)];
    const table = Born.tableOf(written.map((day) => ({ day })));
    const read = [0, -5, 19_782, -1, 2 ** 31 - 1, -(2 ** 31)];
    expect(table.column("day").toArray()).toEqual(Int32Array.from(read));
    expect([...table.cursors()].flatMap((cursor) => read.map((_, at) => cursor.at(at).day))).toEqual(read);
    expect(Array.from(table, ({ day }) => day)).toEqual(read);
  });

  test.each([0.5, 2 ** 31, Number.NaN, "2024-02-29", 5n, new Date(1), new Date(Number.NaN), {}])(
    "refuses a value that is not a whole day: %s",
    (day) => {
      const error = thrown(() => Born.tableOf([{ day: day as never }]));
      expect(error).toMatchObject({ code: "invalid-argument", column: "day", row: 0 });
    },
  );
});

describe("a list of texts", () => {
  const Labels = record({ labels: list(text()) });

  test("is inferred from ordinary rows, and keeps any text", () => {
    const rows = [{ labels: ["", "é", "\0", "😀"] }, { labels: [] }, { labels: ["x".repeat(5000)] }];
    expect(tableFromRows(rows).toObjects()).toEqual(rows);
    expect(Labels.tableOf(rows, { rowsPerChunk: 2 }).toObjects()).toEqual(rows);
    const [part] = Labels.tableOf(rows).column("labels").chunks;
    expect([...(part?.offsets ?? [])]).toEqual([0, 4, 4, 5]);
    expect(part?.values.offsets.length).toBe(6);
  });

  test.each([["a"], [["a", 5]], [["a", null]], [[undefined, "a"]], [new Uint8Array(2)], [5]])(
    "refuses another value, leaves its row out and keeps working: %j",
    (labels) => {
      const writer = Labels.table();
      writer.push({ labels: ["first", "second"] });
      expect(thrown(() => writer.push({ labels } as never))).toMatchObject({ code: "invalid-argument", row: 1 });
      writer.push({ labels: ["third"] });
      expect(writer.finish().toObjects()).toEqual([{ labels: ["first", "second"] }, { labels: ["third"] }]);
    },
  );

  test("cannot have a dictionary, nulls or dates", () => {
    expect(thrown(() => list(text({ dictionary: true }) as never))?.message).toContain("text({ dictionary: true })");
    expect(thrown(() => list(nullable(text()) as never))?.message).toContain("nullable(text)");
    expect(thrown(() => list(date as never))?.message).toContain("date");
  });
});
