// SPDX-License-Identifier: MIT OR Apache-2.0
import vm from "node:vm";
import { bytes, date, list, record, tableFrom, timestamp, u8 } from "clearway/records";
import { expect, test } from "vitest";
import { plain } from "./students.js";

const foreign = vm.createContext({});
const made = (code: string): never => vm.runInContext(code, foreign) as never;

test("dates, bytes, lists and chunks of another realm are accepted", () => {
  const Mixed = record({ at: timestamp(), day: date, raw: bytes, tags: list(u8) });
  const row = {
    at: made("new Date(5)"),
    day: made("new Date(86400000)"),
    raw: made("new Uint8Array([1, 2])"),
    tags: made("new Uint8Array([3])"),
  };
  const table = Mixed.tableOf([row]);
  expect(plain(table.toObjects())).toEqual([{ at: 5, day: 1, raw: [1, 2], tags: [3] }]);
  const message = table.toMessage();
  const chunks = message.chunks.map((chunk) => {
    const data: ArrayBuffer = made(`new ArrayBuffer(${chunk.data.byteLength})`);
    new Uint8Array(data).set(new Uint8Array(chunk.data));
    return { ...chunk, data };
  });
  const read = tableFrom({ "clearway:records": { ...message, chunks } });
  expect(plain(read.toObjects())).toEqual(plain(table.toObjects()));
});
