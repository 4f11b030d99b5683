// SPDX-License-Identifier: MIT OR Apache-2.0
import { bool, f64, nullable, record, type Shape, struct, type Table, tableFrom, text, u8 } from "clearway/records";
import { describe, expect, test } from "vitest";
import fc, { cases } from "../fixtures/fast-check.js";
import { counted, decoded } from "./counted.js";
import { Everything, everything, students, thrown } from "./students.js";

const key = "clearway:records";
type Message = { version: number; columns: unknown[]; chunks: { data: ArrayBuffer; start: number; rows: number }[] };
const messageOf = (table: Table | ReturnType<typeof students>): Message =>
  structuredClone(table.toMessage()) as unknown as Message;
const leaf = (name: string) => ({ name, nullable: false, kind: "u8" });

// The limit on property reads for a table's columns, whatever a message announces: ten per column.
const visitsMax = 10 * (1 << 16);

/** Returns columns nested to `depth`. Each level has two structs that share one list of columns. */
function doubled(depth: number): unknown[] {
  let columns: unknown[] = [leaf("a"), leaf("b")];
  for (let at = 0; at < depth; at++) {
    const inner = columns;
    columns = ["a", "b"].map((name) => ({ name, nullable: false, kind: "struct", columns: inner }));
  }
  return columns;
}

describe("a small message that announces much is refused after few reads:", () => {
  test.each<[string, () => unknown]>([
    ["22 structs that share one list each", () => ({ version: 1, columns: doubled(22), chunks: [] })],
    [
      "one list of many columns shared by many structs",
      () => {
        const columns = Array.from({ length: 400 }, (_, at) => leaf(`${at}`));
        const structs = columns.map(({ name }) => ({ name, nullable: false, kind: "struct", columns }));
        return { version: 1, columns: structs, chunks: [] };
      },
    ],
    ["one long name shared by many columns", () => sharedName(1 << 20, 100)],
    ["a hundred million columns that are holes", () => ({ version: 1, columns: holes(1e8), chunks: [] })],
    ["a hundred million chunks that are holes", () => ({ ...messageOf(students(1)), chunks: holes(1e8) })],
    [
      "holes behind the first chunk",
      () => {
        const message = messageOf(students(1));
        message.chunks.length = 1e8;
        return message;
      },
    ],
    [
      "a hole among the columns",
      () => ({ version: 1, columns: Object.assign(holes(3), { 0: leaf("a"), 2: leaf("b") }), chunks: [] }),
    ],
  ])("%s", (_, make) => {
    const { value, visits } = counted({ [key]: make() }, visitsMax);
    expect(thrown(() => tableFrom(value))?.code).toBe("protocol");
    expect(visits()).toBeLessThan(visitsMax);
  });

  test("a message with a hole among its chunks is refused", () => {
    const message = messageOf(students(20));
    delete (message.chunks as unknown[])[2];
    expect(thrown(() => tableFrom({ [key]: message }))?.code).toBe("protocol");
  });

  test("a message of 128 bytes that announces billions of rows is refused on arrival, without an allocation", () => {
    const message = messageOf(record({ n: f64 }).tableOf([{ n: 1 }]));
    const { data } = message.chunks[0]!;
    expect(data.byteLength).toBe(128);
    new DataView(data).setUint32(4, 0x7fff_ffff, true);
    const chunks = Array.from({ length: 1000 }, () => ({ data: data.slice(0), start: 0, rows: 0x7fff_ffff }));
    const error = thrown(() =>
      tableFrom({ [key]: { ...message, chunks } })
        .column("n")
        .toArray(),
    );
    expect(error).toMatchObject({
      code: "protocol",
      message: "not a table: a chunk of 128 bytes says that it has 2147483647 rows",
    });
  });

  test("a message may split one chunk's rows into runs, but not repeat them", () => {
    const message = messageOf(students(100, 100));
    const run = (start: number, rows: number) => ({ ...message.chunks[0]!, start, rows });
    const table = tableFrom({ [key]: { ...message, chunks: [run(90, 10), run(0, 0), run(5, 85), run(0, 5)] } });
    expect([table.length, table.at(0)?.["rollNum"], table.at(-1)?.["rollNum"]]).toEqual([100, 90, 4]);
    expect(table.byteLength).toBe(message.chunks[0]?.data.byteLength);
    const twice = { ...message, chunks: [run(0, 100), run(99, 1)] };
    expect(thrown(() => tableFrom({ [key]: twice }))?.code).toBe("protocol");
  });
});

describe("no memory is read twice:", () => {
  const place = (data: ArrayBuffer, buffer: number): number => new DataView(data).getUint32(16 + buffer * 8, true);

  test("two columns that share memory are refused", () => {
    const message = messageOf(record({ a: f64, b: f64 }).tableOf([{ a: 1, b: 2 }]));
    const { data } = message.chunks[0]!;
    new DataView(data).setUint32(16 + 3 * 8, place(data, 1), true);
    expect(thrown(() => tableFrom({ [key]: message }).at(0))?.code).toBe("protocol");
  });

  /** Returns a table with a text column whose offsets decrease where a reader does not look: at nulls and in dictionaries. */
  function sawtooth(name: "direct" | "inner" | "word"): Table {
    const Texts = record({
      direct: nullable(text()),
      outer: nullable(struct({ inner: text() })),
      word: text({ dictionary: true }),
    });
    const table = Texts.tableOf(
      Array.from({ length: 9 }, (_, at) => ({
        direct: at % 2 ? null : "x".repeat(50),
        outer: at % 2 ? null : { inner: "y".repeat(50) },
        word: `${at}`.repeat(50),
      })),
    );
    const message = messageOf(table as never);
    const { data } = message.chunks[0]!;
    const buffer = { direct: 1, inner: 5, word: 9 }[name];
    const offsets = new Int32Array(data, place(data, buffer), 10);
    for (let at = 0; at < 10; at++) offsets[at] = at % 2 ? 450 : 0;
    if (name !== "word") for (let at = 0; at < 10; at++) offsets[at] = at % 2 ? 250 : 0;
    return tableFrom({ [key]: message });
  }

  test.each([
    ["direct", (table: Table) => table.at(0)?.["direct"]],
    ["inner", (table: Table) => JSON.stringify(table.at(0)?.["outer"])],
    ["word", (table: Table) => table.at(0)?.["word"]],
  ] as const)("texts that overlap at nulls or in a dictionary are refused: %s", (name, read) => {
    expect(thrown(() => read(sawtooth(name)))).toMatchObject({ code: "protocol" });
  });
});

test("a message with any columns, shared or not, costs a bounded number of reads", () => {
  const kinds = fc.constantFrom("u8", "text", "struct", "struct", "list", "none");
  const columns = fc.array(kinds, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(columns, { minLength: 1, maxLength: 24 }), (lists) => {
      let shared: unknown[] = [leaf("x")];
      for (const list of lists) {
        const inner = shared;
        shared = list.map((kind, at) => ({
          name: `${at}`,
          kind,
          nullable: false,
          dictionary: false,
          of: "u8",
          columns: inner,
        }));
      }
      const { value, visits } = counted({ [key]: { version: 1, columns: shared, chunks: [] } }, visitsMax);
      const error = thrown(() => tableFrom(value));
      if (error && error.code !== "protocol") throw error;
      expect(visits()).toBeLessThan(visitsMax);
    }),
    { numRuns: cases(100) },
  );
});

test("a message with any changed bytes has values proportional to its bytes", () => {
  const sizes = fc.array(fc.record({ at: fc.nat(900), byte: fc.nat(255) }), { maxLength: 6 });
  const table = everything(40, 20);
  fc.assert(
    fc.property(sizes, fc.nat(255), (changes, fill) => {
      const message = messageOf(table as never);
      let bytes = 0;
      for (const { data } of message.chunks) {
        const view = new Uint8Array(data);
        for (const { at, byte } of changes) view[at] = at % 3 ? byte : fill;
        bytes += data.byteLength;
      }
      const error = thrown(() => expect(decoded(tableFrom({ [key]: message }))).toBeLessThan(bytes * 16));
      if (error && error.code !== "protocol") throw error;
    }),
    { numRuns: cases(200) },
  );
});

test("a record has the same limit on columns as a message", () => {
  const wide = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`c${at}`, bool]));
  const wider = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`s${at}`, struct(wide)]));
  expect(thrown(() => record(wider))).toMatchObject({
    code: "invalid-argument",
    message: "the columns are more than 65536, those of structs counted",
  });
  let deep: Parameters<typeof record>[0] = { a: u8 };
  for (let at = 0; at < 32; at++) deep = { a: struct(deep) };
  const { shapes } = record(deep);
  expect(tableFrom({ [key]: { version: 1, columns: shapes, chunks: [] } }).length).toBe(0);
  expect(thrown(() => record({ a: struct(deep) }))?.message).toBe("the columns are nested deeper than 32");
  expect(Everything.shapes.length).toBeGreaterThan(20);
});

function holes(length: number): unknown[] {
  const list: unknown[] = [];
  list.length = length;
  return list;
}

function sharedName(letters: number, columns: number): unknown {
  const inner = [leaf("n".repeat(letters))];
  const list = Array.from({ length: columns }, (_, at) => ({
    name: `${at}`,
    nullable: false,
    kind: "struct",
    columns: inner,
  }));
  return { version: 1, columns: list as unknown as Shape[], chunks: [] };
}
