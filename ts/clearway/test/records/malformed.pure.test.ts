// SPDX-License-Identifier: MIT OR Apache-2.0
import { tableFrom } from "clearway/records";
import { describe, expect, test } from "vitest";
import fc, { cases } from "../fixtures/fast-check.js";
import { everything, Student, students, thrown } from "./students.js";

const key = "clearway:records";
type Message = {
  version: number;
  columns: Record<string, unknown>[];
  chunks: { data: ArrayBuffer; start: number; rows: number }[];
};

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
            const failed = thrown(() => JSON.stringify(read.column(name).get(row), text));
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

function text(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
