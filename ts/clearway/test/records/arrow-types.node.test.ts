// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: pyarrow is a process of its own, and writes what no host changes.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as arrow from "apache-arrow";
import { date, list, nullable, record, tableFromArrow, tableFromRows, text } from "clearway/records";
import { beforeAll, describe, expect, test } from "vitest";
import { plain, thrown } from "./students.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// The streams that pyarrow writes, by name. `scripts/setup.sh python` installs pyarrow.
let streams: Record<string, string>;
beforeAll(() => {
  const python = here("../../../../.cache/python/bin/python3");
  const { stdout, stderr, status } = spawnSync(python, [here("./write_arrow.py")], {
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
