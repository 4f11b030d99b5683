// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Column, Table } from "clearway/records";
import {
  bool,
  bytes,
  date,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  list,
  type NewRow,
  nullable,
  record,
  struct,
  text,
  timestamp,
  u8,
  u16,
  u32,
  u64,
} from "clearway/records";

/** A record with a column of every type, plain and nullable. */
export const Everything = record({
  yes: bool,
  b8: i8,
  b16: i16,
  b32: i32,
  b64: i64,
  c8: u8,
  c16: u16,
  c32: u32,
  c64: u64,
  single: f32,
  double: f64,
  plain: text(),
  word: text({ dictionary: true }),
  raw: bytes,
  day: timestamp({ unit: "s" }),
  at: timestamp(),
  micro: timestamp({ unit: "us" }),
  nano: timestamp({ unit: "ns" }),
  numbers: list(f64),
  bigs: list(i64),
  flags: list(bool),
  labels: list(text()),
  born: date,
  place: struct({ city: text(), code: nullable(u16), inner: struct({ deep: bool }) }),
  maybe: nullable(bool),
  some: nullable(i32),
  words: nullable(text({ dictionary: true })),
  notes: nullable(text()),
  blob: nullable(bytes),
  when: nullable(timestamp()),
  scores: nullable(list(u8)),
  aliases: nullable(list(text())),
  died: nullable(date),
  nested: nullable(struct({ x: f64, name: nullable(text()) })),
});

/** Returns a row that differs from the next one in every column. Every third row has nulls. */
export function everyRow(at: number): NewRow<typeof Everything> {
  const none = at % 3 === 0;
  const sign = at % 2 === 0 ? 1 : -1;
  return {
    yes: at % 2 === 0,
    b8: (sign * at) % 128,
    b16: sign * at * 3,
    b32: sign * at * 100_003,
    b64: BigInt(sign * at) * 1_000_000_007n * 1_000_000n,
    c8: at % 256,
    c16: at * 7,
    c32: 4_294_967_295 - at,
    c64: 18_446_744_073_709_551_615n - BigInt(at),
    single: at / 4,
    double: at / 3,
    plain: "é".repeat(at % 5) + at,
    word: `word ${at % 4}`,
    raw: new Uint8Array(at % 3).fill(at),
    day: sign * at * 86_400,
    at: new Date(sign * at * 12_345_678_901),
    micro: sign * at * 1_000_000_007,
    nano: BigInt(sign * at) * 1_234_567_890_123_456n,
    numbers: Array.from({ length: at % 4 }, (_, each) => each / 7),
    bigs: new BigInt64Array(at % 2).fill(BigInt(-at)),
    flags: Array.from({ length: at % 11 }, (_, each) => each % 3 === 0),
    labels: Array.from({ length: at % 4 }, (_, each) => "ü".repeat(each) + at),
    born: sign * at * 1000,
    place: { city: `city ${at}`, code: none ? null : at, inner: { deep: at % 5 === 0 } },
    maybe: none ? undefined : at % 2 === 0,
    some: none ? null : -at,
    words: none ? null : `w${at % 2}`,
    notes: none ? null : `note ${at}`,
    blob: none ? null : new Uint8Array([at % 256, 0]),
    when: none ? null : at,
    scores: none ? null : [at % 256],
    aliases: none ? null : [`a${at}`, ""],
    died: none ? null : -at,
    nested: none ? null : { x: at, name: at % 2 === 0 ? null : "n" },
  };
}

/** Returns the value that such a row reads as, comparable with `toEqual`. */
export function everyValue(at: number): unknown {
  const row = everyRow(at);
  return plain({
    ...row,
    at: (row.at as Date).getTime(),
    maybe: row.maybe ?? null,
  });
}

/** Converts rows to plain values for `toEqual`: typed arrays become arrays. */
export function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return [...(value as Uint8Array)];
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

export function everything(count: number, rowsPerChunk?: number) {
  const writer = Everything.table(rowsPerChunk === undefined ? {} : { rowsPerChunk });
  for (let at = 0; at < count; at++) writer.push(everyRow(at));
  return writer.finish();
}

export const Student = record({ rollNum: u32, name: text({ dictionary: true }) });

export function students(count: number, rowsPerChunk = 4) {
  const rows = Array.from({ length: count }, (_, at) => ({ rollNum: at, name: `name ${at % 3}` }));
  return Student.tableOf(rows, { rowsPerChunk });
}

/** Returns the error that a function throws, or undefined when it does not throw. */
export function thrown(
  act: () => unknown,
): { code?: string; message?: string; column?: string; row?: number } | undefined {
  try {
    act();
    return undefined;
  } catch (reason) {
    return reason as object;
  }
}

/**
 * Wraps a value, and counts how often any of its properties is read or tested, at any depth. Counts work, because time varies.
 * Shared objects stay shared. More than `max` visits throw an error at the reader.
 */
export function counted(value: unknown, max: number): { value: unknown; visits: () => number } {
  let visits = 0;
  const wrapped = new Map<object, object>();
  const visit = (): void => {
    if (++visits > max) throw new Error(`more than ${max} looks`);
  };
  const wrap = (each: unknown): unknown => {
    if (each === null || typeof each !== "object" || each instanceof ArrayBuffer) return each;
    const known = wrapped.get(each);
    if (known) return known;
    const proxy = new Proxy(each, {
      get(target, name, receiver) {
        visit();
        return wrap(Reflect.get(target, name, receiver));
      },
      has(target, name) {
        visit();
        return Reflect.has(target, name);
      },
    });
    wrapped.set(each, proxy);
    return proxy;
  };
  return { value: wrap(value), visits: () => visits };
}

/** Returns the total of characters, items and values that can be read in a table. Refused values do not count. */
export function decoded(table: Table): number {
  let sum = 0;
  for (const { name } of table.schema.shapes) {
    const column: Column = table.column(name);
    for (let row = 0; row < column.length; row++) {
      const failed = thrown(() => {
        sum += sizeOf(column.get(row));
      });
      if (failed && failed.code !== "protocol") throw failed;
    }
  }
  return sum;
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return (value as ArrayLike<unknown>).length;
  if (value === null || typeof value !== "object") return 1;
  let sum = 0;
  for (const name in value) sum += sizeOf((value as Record<string, unknown>)[name]);
  return sum;
}
