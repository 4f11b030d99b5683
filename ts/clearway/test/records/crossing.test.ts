// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: tables cross by ring and by port.
import { move } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";
import { Student, students, thrown } from "./students.js";

type Records = typeof import("../fixtures/records.tasks.js");
const recordsPool = () => testPool<Records>(builtUrl("records"));

describe("a table crosses", () => {
  test("as a task's result without a copy: as a writer, as a table, or under move()", async () => {
    const pool = recordsPool();
    for (const table of [await pool.call.students(1000), await pool.call.finished(1000), await pool.call.moved(1000)]) {
      expect([table.length, table.at(-1)?.rollNum, table.at(8)?.name]).toEqual([1000, 999, "name 1"]);
      expect(table.schema).toBe(Student);
    }
    const { copiedBytes, movedBytes } = pool.stats().ledger.fromWorkers;
    expect(copiedBytes).toBe(0);
    expect(movedBytes).toBe(3 * (await pool.call.students(1000)).byteLength);
  });

  test("as the values of a stream, in order", async () => {
    const numbers: number[] = [];
    for await (const part of recordsPool().call.parts(1000, 90)) {
      for (const row of part) numbers.push(row.rollNum);
    }
    expect(numbers).toEqual(Array.from({ length: 1000 }, (_, at) => at));
  });

  test("as the values of a stream with several pending next() calls", async () => {
    const stream = recordsPool().call.parts(40, 10);
    const steps = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next(), stream.next()]);
    expect(steps.map((step) => (step.done ? "end" : step.value.at(0)?.rollNum))).toEqual([0, 10, 20, 30, "end"]);
  });

  test("as an argument: with move() it is moved and released here, otherwise it is copied", async () => {
    const pool = recordsPool();
    const table = students(100);
    expect(await pool.call.sum(table)).toBe(4950);
    expect(table.at(5)?.rollNum).toBe(5);
    const bytes = table.byteLength;
    expect(await pool.call.sum(move(table))).toBe(4950);
    expect(pool.stats().ledger.toWorkers.movedBytes).toBe(bytes);
    for (const read of [() => table.at(5), () => table.toObjects(), () => table.toMessage()]) {
      expect(thrown(read)?.code).toBe("released");
    }
    expect((await reasonOf(pool.call.sum(move(table)))).code).toBe("released");
    expect(await pool.call.isTable(students(3))).toBe(true);
  });

  test("as the values of a stream into a task", async () => {
    async function* tables() {
      yield move(students(3));
      yield students(5);
    }
    const lengths: number[] = [];
    for await (const length of recordsPool().call.sums(tables())) lengths.push(length);
    expect(lengths).toEqual([3, 5]);
  });

  test("to a worker and back", async () => {
    const back = await recordsPool().call.back(move(students(9)));
    expect(back.column("name").toArray()).toEqual(students(9).column("name").toArray());
  });

  test("as a slice, and as a table without rows", async () => {
    const pool = recordsPool();
    const slice = await pool.call.slice(1000, 150, 420);
    expect([slice.length, slice.at(0)?.rollNum, slice.at(-1)?.rollNum]).toEqual([270, 150, 419]);
    expect((await pool.call.empty()).length).toBe(0);
  });

  test("inside another object, from which from() restores it", async () => {
    const { label, students: inner } = await recordsPool().call.nested(250);
    expect([label, Student.from({ "clearway:records": inner }).length]).toEqual(["all", 250]);
  });

  test("through structured clone alone", () => {
    const table = students(10);
    const transfer = table.toMessage().chunks.map(({ data }) => data);
    const copy = Student.from(structuredClone(table, { transfer }));
    expect(copy.at(9)?.name).toBe("name 0");
    expect(thrown(() => table.at(9))?.code).toBe("released");
  });

  test("but a single row does not, and the table stays intact", async () => {
    const pool = recordsPool();
    const table = students(9);
    for (const reason of [await reasonOf(pool.call.row(9)), await reasonOf(pool.call.isTable(table.at(1)))]) {
      expect(reason.code).toBe("not-cloneable");
    }
    expect(table.at(8)?.rollNum).toBe(8);
    expect((await pool.call.students(2)).length).toBe(2);
  });

  test("but a released table rejects its call with a code, and data that looks like a table stays data", async () => {
    const pool = recordsPool();
    expect((await reasonOf(pool.call.released())).code).toBe("released");
    expect(await pool.call.forged()).toEqual({ "clearway:records": { version: 1, columns: [], chunks: [] } });
    expect(await pool.call.back({ "clearway:records": 5 } as never)).toEqual({ "clearway:records": 5 });
    expect((await pool.call.students(1)).length).toBe(1);
  });
});
