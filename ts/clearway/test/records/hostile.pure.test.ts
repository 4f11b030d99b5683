// SPDX-License-Identifier: MIT OR Apache-2.0
import { bool, f64, nullable, record, type Shape, struct, type Table, tableFrom, text, u8 } from "clearway/records";
import { describe, expect, test } from "vitest";
import fc, { cases } from "../fixtures/fast-check.js";
import { counted, decoded, Everything, everything, Student, students, thrown } from "./students.js";

const key = "clearway:records";
type Message = {
  version: number;
  columns: Record<string, unknown>[];
  chunks: { data: ArrayBuffer; start: number; rows: number }[];
};
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

/** Returns a table's message after `change` has modified it. */
function changed(change: (message: Message) => unknown, table: { toMessage(): unknown } = students(10)): unknown {
  const message = structuredClone(table.toMessage()) as Message;
  return { [key]: change(message) ?? message };
}

const segment = (message: Message, parts: object): void => void Object.assign(message.chunks[0]!, parts);
const header = (message: Message, at: number, value: number): void =>
  new DataView(message.chunks[0]!.data).setUint32(at, value, true);

describe("a malformed message is refused on arrival:", () => {
  test.each<[string, (message: Message) => unknown]>([
    ["not an object", () => 5],
    ["another version", (m) => ({ ...m, version: 2 })],
    ["no columns", (m) => ({ ...m, columns: [] })],
    ["a column that is not an object", (m) => ({ ...m, columns: [null, null] })],
    ["an unknown kind", (m) => ({ ...m, columns: [{ name: "a", nullable: false, kind: "u33" }] })],
    [
      "a kind with the name of an inherited property",
      (m) => ({ ...m, columns: [{ name: "a", nullable: false, kind: "constructor" }] }),
    ],
    ["a column called __proto__", (m) => ({ ...m, columns: [{ name: "__proto__", nullable: false, kind: "u8" }] })],
    ["two columns with the same name", (m) => ({ ...m, columns: [m.columns[0], m.columns[0]] })],
    ["a name that is not a string", (m) => ({ ...m, columns: [{ name: {}, nullable: false, kind: "u8" }] })],
    ["fewer columns than buffers", (m) => ({ ...m, columns: m.columns.slice(1) })],
    ["chunks that are not an array", (m) => ({ ...m, chunks: { length: 1e9 } })],
    ["a chunk without memory", (m) => ({ ...m, chunks: [{ data: {}, start: 0, rows: 1 }] })],
    [
      "memory that is too small for a header",
      (m) => ({ ...m, chunks: [{ data: new ArrayBuffer(8), start: 0, rows: 0 }] }),
    ],
    ["more rows than the chunk has", (m) => segment(m, { rows: 5 })],
    ["a start beyond the chunk", (m) => segment(m, { start: 4 })],
    ["a negative start", (m) => segment(m, { start: -1 })],
    ["rows that are not a number", (m) => segment(m, { rows: Number.NaN })],
    ["another magic", (m) => header(m, 0, 1)],
    ["billions of rows", (m) => header(m, 4, 0xffff_ffff)],
    ["another count of buffers", (m) => header(m, 8, 0xffff_ffff)],
  ])("%s", (_, change) => {
    expect(thrown(() => tableFrom(changed(change)))?.code).toBe("protocol");
  });

  test("memory that was transferred away, with its own code", () => {
    const message = changed((m) => m) as { [key]: Message };
    structuredClone(message, { transfer: [message[key].chunks[0]!.data] });
    expect(thrown(() => tableFrom(message))?.code).toBe("released");
  });

  test("columns that are nested too deep", () => {
    let column: Record<string, unknown> = { name: "a", nullable: false, kind: "u8" };
    for (let depth = 0; depth < 10_000; depth++)
      column = { name: "a", nullable: false, kind: "struct", columns: [column] };
    const error = thrown(() => tableFrom({ [key]: { version: 1, columns: [column], chunks: [] } }));
    expect(error?.message).toContain("nested deeper");
  });

  test.each([undefined, null, 5, "x", {}, [], new Map()])("%s", (value) => {
    expect(thrown(() => Student.from(value))?.code).toBe("protocol");
  });
});

describe("a chunk that does not contain its columns is refused on its first read, and other chunks stay readable:", () => {
  test.each<[string, (message: Message) => unknown]>([
    ["more rows than the columns hold", (m) => header(m, 4, 5)],
    ["a buffer beyond the chunk", (m) => header(m, 16 + 8, 0xffff_fff8)],
    ["a buffer that is not aligned", (m) => header(m, 16 + 8, 65)],
    ["a buffer that is too short", (m) => header(m, 16 + 12, 4)],
    ["nulls in a column that has none", (m) => header(m, 16 + 4, 8)],
  ])("%s", (_, change) => {
    const table = Student.from(changed(change));
    const reads = [
      () => table.at(0),
      () => [...table],
      () => table.toObjects(),
      () => table.column("rollNum").get(0),
      () => table.column("rollNum").chunks,
      () => table.column("rollNum").toArray(),
    ];
    for (const read of reads) expect(thrown(read)?.code).toBe("protocol");
    expect(table.at(9)?.rollNum).toBe(9);
  });
});

describe("offsets and codes are checked when they are read:", () => {
  // Codes are buffer 3 of { rollNum, name }; the dictionary's offsets are buffer 4.
  const place = (message: Message, buffer: number): number =>
    new DataView(message.chunks[0]!.data).getUint32(16 + buffer * 8, true);

  test.each([
    ["a code beyond its dictionary", 3, 99],
    ["a negative code", 3, 0xffff_ffff],
    ["an offset beyond the data", 4, 0x7fff_ffff],
    ["a negative offset", 4, 0x8000_0000],
  ])("%s", (_, buffer, value) => {
    const table = Student.from(changed((m) => header(m, place(m, buffer), value)));
    expect(thrown(() => table.at(0)?.name)?.code).toBe("protocol");
    expect(thrown(() => table.column("name").get(0))?.code).toBe("protocol");
    expect(table.at(0)?.rollNum).toBe(0);
  });

  test("offsets that decrease", () => {
    const table = Student.from(changed((m) => header(m, place(m, 4) + 4, 100_000)));
    expect(thrown(() => table.at(0)?.name)?.code).toBe("protocol");
    expect(thrown(() => table.at(1)?.name)?.code).toBe("protocol");
  });
});

test("a message with any changed bytes is refused or read, and its values are read or refused", () => {
  const table = everything(12, 6);
  const size = table.toMessage().chunks[0]!.data.byteLength;
  // Most changes that matter are in the header and the directory.
  const at = fc.oneof(fc.nat({ max: 600 }), fc.nat({ max: size - 1 }));
  const changes = fc.array(fc.record({ at, byte: fc.nat({ max: 255 }) }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(changes, (bytes) => {
      const message = changed((m) => {
        const data = new Uint8Array(m.chunks[0]!.data);
        for (const { at, byte } of bytes) data[at] = byte;
      }, table);
      const error = thrown(() => {
        const read = tableFrom(message);
        for (const name of read.schema.shapes.map((shape) => shape.name)) {
          for (let row = 0; row < read.length; row++) {
            const failed = thrown(() => JSON.stringify(read.column(name).get(row), asText));
            if (failed && failed.code !== "protocol") throw failed;
          }
        }
      });
      if (error && error.code !== "protocol") throw error;
    }),
    { numRuns: cases(300) },
  );
});

test("a message with any other value as one of its parts is refused or read", () => {
  const parts = fc.anything({ withBigInt: true, withMap: true, withTypedArray: true, withNullPrototype: true });
  fc.assert(
    fc.property(
      parts,
      fc.constantFrom("version", "columns", "chunks", "data", "start", "rows", "all"),
      (part, where) => {
        const message = changed((m) => {
          if (where === "all") return part ?? null;
          if (where === "data" || where === "start" || where === "rows") Object.assign(m.chunks[0]!, { [where]: part });
          else Object.assign(m, { [where]: part });
          return m;
        });
        const error = thrown(() => tableFrom(message).toObjects());
        if (error && error.code !== "protocol") throw error;
      },
    ),
  );
});

function asText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
