// SPDX-License-Identifier: MIT OR Apache-2.0
// The fixed pieces of work that both devices run. Each takes about a millisecond on a desktop computer, and returns the same number on
// every engine: only operations whose results the language defines exactly.

export interface Work {
  readonly name: string;
  readonly title: string;
  readonly run: () => number;
  /** What `run` returns. A compiler that skipped work would return something else. */
  readonly result: number;
}

/** A change of any piece changes every ratio, so it needs another version. A file with another version cannot be compared. */
export const WORKS_VERSION = 1;

export const WORKS: readonly Work[] = [
  { name: "integers", title: "integer arithmetic", run: integers, result: -2_009_478_406 },
  { name: "floats", title: "floating point", run: floats, result: 1.274_223_092_602_802 },
  { name: "text", title: "JSON and text", run: text, result: 1_003_496_650 },
  { name: "objects", title: "object allocation", run: objects, result: 3_890_125 },
  { name: "collections", title: "maps and sorting", run: collections, result: 1_381_782 },
];

/** xorshift (Marsaglia, Xorshift RNGs, Journal of Statistical Software 8, 2003): never 0 for a start other than 0. */
function next(state: number): number {
  let mixed = state ^ (state << 13);
  mixed ^= mixed >>> 17;
  return mixed ^ (mixed << 5);
}

function integers(): number {
  const table = new Int32Array(4096);
  let state = 0x2545f491;
  let sum = 0;
  for (let step = 0; step < 400_000; step++) {
    state = next(state);
    const slot = state & 4095;
    table[slot] = (table[slot]! + state) | 0;
    sum = (Math.imul(sum, 31) + table[(slot + 1) & 4095]!) | 0;
  }
  return sum;
}

/** The spectral norm of a matrix, by the power method. */
function floats(): number {
  const size = 160;
  const at = (row: number, column: number) => 1 / (((row + column) * (row + column + 1)) / 2 + row + 1);
  const multiply = (from: Float64Array, to: Float64Array, transposed: boolean) => {
    for (let row = 0; row < size; row++) {
      let sum = 0;
      for (let column = 0; column < size; column++)
        sum += (transposed ? at(column, row) : at(row, column)) * from[column]!;
      to[row] = sum;
    }
  };
  const [u, v, between] = [new Float64Array(size).fill(1), new Float64Array(size), new Float64Array(size)];
  for (let step = 0; step < 2; step++) {
    multiply(u, between, false);
    multiply(between, v, true);
    multiply(v, between, false);
    multiply(between, u, true);
  }
  let [uv, vv] = [0, 0];
  for (let row = 0; row < size; row++) {
    uv += u[row]! * v[row]!;
    vv += v[row]! * v[row]!;
  }
  return Math.sqrt(uv / vv);
}

function text(): number {
  const rows: unknown[] = [];
  let state = 0x1b873593;
  for (let id = 0; id < 1000; id++) {
    state = next(state);
    rows.push({
      id,
      name: `row ${(state >>> 8).toString(36)}`,
      tags: ["a", `b${id % 7}`],
      size: state & 0xffff,
      ok: id % 3 === 0,
    });
  }
  const written = JSON.stringify(rows);
  const read = JSON.parse(written) as { name: string; tags: string[]; size: number }[];
  let sum = written.length;
  for (const { name, tags, size } of read) {
    const line = [name.toUpperCase().replaceAll(" ", "_"), ...tags, size].join(";");
    for (let at = 0; at < line.length; at++) sum = (Math.imul(sum, 33) + line.charCodeAt(at)) | 0;
  }
  return sum;
}

interface Tree {
  readonly left: Tree | undefined;
  readonly right: Tree | undefined;
  readonly value: number;
}

function objects(): number {
  const tree = (depth: number, value: number): Tree =>
    depth === 0
      ? { left: undefined, right: undefined, value }
      : { left: tree(depth - 1, value + 1), right: tree(depth - 1, value + 2), value };
  const total = ({ left, right, value }: Tree): number =>
    value + (left === undefined ? 0 : total(left)) + (right === undefined ? 0 : total(right));
  let sum = 0;
  for (let round = 0; round < 50; round++) sum += total(tree(10, round));
  return sum;
}

function collections(): number {
  const counts = new Map<string, number>();
  let state = 0x7f4a7c15;
  for (let step = 0; step < 6000; step++) {
    state = next(state);
    const key = `k${(state >>> 4) % 1500}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
  let sum = 0;
  sorted.forEach(([key, count], at) => {
    sum += count * (at % 97) + Number(key.slice(1));
  });
  return sum;
}
