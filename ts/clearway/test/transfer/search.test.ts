// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test, vi } from "vitest";
import { findMovable, type MovedValue, move, transferOf } from "../../src/transfer/move.js";
import { movable } from "../fixtures/capabilities.js";
import fc from "../fixtures/fast-check.js";

const bytes = (length: number, at = 0, shown = length): Uint8Array =>
  new Uint8Array(new ArrayBuffer(length), at, shown).fill(length % 251);

/** Sends a value. Returns what arrives, and what the search found. */
function send(value: unknown) {
  const found = findMovable(value);
  const arrived = structuredClone(found.value, { transfer: found.transfer as Transferable[] });
  return { arrived, found };
}

describe("the search for transferable memory", () => {
  test.each([
    ["a number", 5],
    ["text", "abc"],
    ["null", null],
    ["a plain object", { a: [1, { b: new Date(0) }], c: /x/ }],
    ["an error", new Error("m")],
  ])("finds nothing in %s", (_name, value) => {
    expect(findMovable(value)).toMatchObject({ value, transfer: [], movedBytes: 0, copies: [] });
  });

  test("finds a buffer, alone or under any view", () => {
    const buffer = new ArrayBuffer(16);
    for (const value of [
      buffer,
      new Uint8Array(buffer),
      new Float64Array(buffer),
      new DataView(buffer),
      { v: [buffer] },
    ]) {
      expect(findMovable(value)).toMatchObject({ transfer: [buffer], movedBytes: 16, copies: [] });
    }
  });

  test("searches maps, sets, class instances and cycles, and lists each buffer once", () => {
    class Holder {
      readonly own = bytes(8);
    }
    const [a, b, c] = [bytes(8), bytes(16), bytes(32)];
    const root: Record<string, unknown> = { holder: new Holder(), map: new Map([[{ key: a }, [b]]]), again: b };
    root["set"] = new Set([c, root]);
    root["self"] = root;
    const { arrived, found } = send(root);
    expect(found).toMatchObject({ movedBytes: 64, copies: [] });
    expect(found.transfer).toHaveLength(4);
    expect([a.byteLength, b.byteLength, c.byteLength]).toEqual([0, 0, 0]);
    const got = arrived as { again: Uint8Array; self: unknown; holder: { own: Uint8Array } };
    expect(got.self).toBe(got);
    expect(got.holder.own).toHaveLength(8);
  });

  test("copies only the visible part of a larger buffer, as a view of the same type, and leaves the buffer intact", () => {
    const buffer = new ArrayBuffer(64);
    const view = new Float32Array(buffer, 8, 2).fill(1.5);
    const data = new DataView(buffer, 32, 4);
    const { arrived, found } = send({ view, data, again: view });
    const got = arrived as { view: Float32Array; data: DataView; again: unknown };
    expect(got.view).toEqual(new Float32Array([1.5, 1.5]));
    expect(got.view.buffer.byteLength).toBe(8);
    expect(got.data.buffer.byteLength).toBe(4);
    expect(got.again).toBe(got.view);
    expect(buffer.byteLength).toBe(64);
    expect(found.copies).toEqual([{ reason: "partial-view", bytes: 12 }]);
  });

  test("moves a buffer that several views cover together", () => {
    const buffer = new ArrayBuffer(16);
    const halves = [new Uint8Array(buffer, 8), new Uint8Array(buffer, 0, 8)];
    const { arrived, found } = send(halves);
    expect(found).toMatchObject({ movedBytes: 16, copies: [] });
    const [right, left] = arrived as Uint8Array[];
    expect(right!.buffer).toBe(left!.buffer);
    expect(buffer.byteLength).toBe(0);
  });

  test("does not move a buffer for overlapping views whose lengths add up to its own", () => {
    const buffer = new ArrayBuffer(16);
    const { arrived, found } = send([new Uint8Array(buffer, 0, 10), new Uint8Array(buffer, 2, 10)]);
    expect(buffer.byteLength).toBe(16);
    expect(found.copies).toEqual([{ reason: "partial-view", bytes: 20 }]);
    expect((arrived as Uint8Array[]).map((view) => view.buffer.byteLength)).toEqual([10, 10]);
  });

  test("moves ports and streams", () => {
    const { port1, port2 } = new MessageChannel();
    const stream = movable();
    const { found } = send({ ports: [port1], stream });
    expect(new Set(found.transfer)).toEqual(new Set([port1, stream]));
    port2.close();
  });

  test("stops at its limit, and reports it", () => {
    const many = Array.from({ length: 100 }, () => bytes(8));
    const found = findMovable(many, 50);
    expect(found.transfer).toHaveLength(50);
    expect(found.copies).toEqual([{ reason: "search-limit", bytes: 50 * 8 }]);
    expect(findMovable(many, 100).copies).toEqual([]);
  });

  test("does not count what is in objects without objects inside", () => {
    const rows = Array.from({ length: 30 }, (_, id) => ({ id, name: `row ${id}`, marks: "abc" }));
    const { transfer, copies } = findMovable([...rows, { a: { b: bytes(8) } }], 40);
    expect(transfer).toHaveLength(1);
    expect(copies).toEqual([]);
  });

  test("reports its limit only if something that could move is beyond it", () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, inner: { id } }));
    expect(findMovable(rows, 10).copies).toEqual([]);
    expect(transferOf(move(rows) as unknown as MovedValue, 10, true).copies).toEqual([]);
    expect(findMovable([...rows, new MessageChannel().port1], 10).copies).toEqual([
      { reason: "search-limit", bytes: 0 },
    ]);
  });

  test("counts memory that a list leaves out as copied, or shared, and refuses the copy under strict", () => {
    const [listed, kept, part] = [bytes(8), bytes(16), bytes(32).subarray(0, 4)];
    const moved = move({ listed, kept, part }, [listed.buffer]) as unknown as MovedValue;
    const copies = [
      { reason: "partial-view", bytes: 4 },
      { reason: "not-listed", bytes: 16 },
    ];
    expect(transferOf(moved, 10, false)).toMatchObject({ transfer: [listed.buffer], movedBytes: 8, copies });
    expect(() => transferOf(moved, 10, true)).toThrow(expect.objectContaining({ code: "would-copy" }));
    expect(transferOf(move(listed, [listed.buffer]) as unknown as MovedValue, 10, true).copies).toEqual([]);
    expect(transferOf(move(bytes(0), []) as unknown as MovedValue, 10, true).copies).toEqual([]);
  });

  test("visits an object without objects inside once, and any other twice", () => {
    const visited = (value: unknown): number => {
      const keys = vi.spyOn(Object, "keys");
      findMovable(value);
      const { length } = keys.mock.calls;
      keys.mockRestore();
      return length;
    };
    const row = (id: number) => ({ id, name: `row ${id}` });
    // A host may list the keys of an object more often, to find out what it is.
    const rows = visited(Array.from({ length: 400 }, (_, id) => row(id)));
    expect(visited(Array.from({ length: 400 }, (_, id) => ({ id, inner: row(id) })))).toBe(2 * rows + 400);
  });

  test("counts the nodes of a large value, and texts, and of a small one not", () => {
    const rows = (length: number) => Array.from({ length }, (_, id) => ({ id, tags: [1, 2], inner: { x: 1 } }));
    // The list, and for each row the row, three properties and three values inside.
    expect(findMovable(rows(1_000)).graph?.nodes).toBe(1 + 1_000 * 7);
    expect(findMovable([...rows(1_000), { text: "x".repeat(5 << 10) }]).graph?.nodes).toBe(1 + 1_000 * 7 + 2 + 5);
    expect(findMovable(rows(142)).graph).toBeUndefined();
    expect(findMovable(rows(143)).graph).toBeDefined();
  });

  test.runIf(typeof SharedArrayBuffer === "function")("counts shared memory, and never transfers it", () => {
    const shared = new SharedArrayBuffer(32);
    expect(findMovable([new Uint8Array(shared), shared, new Int32Array(shared, 8, 2)])).toMatchObject({
      transfer: [],
      sharedBytes: 32,
      copies: [],
    });
  });

  test("leaves the task's own value unchanged", () => {
    const view = bytes(64, 0, 8);
    const value = { deep: [new Map([["k", view]])] };
    send(value);
    expect(value.deep[0]!.get("k")).toBe(view);
    expect(view.byteLength).toBe(8);
  });
});

// Random graphs of any values, with whole and partial views. Each run builds its own graph, because sending moves it.
type Build = () => unknown;

const graphs = fc.letrec<{ node: Build }>((tie) => {
  const length = fc.integer({ min: 1, max: 64 });
  const leaf: fc.Arbitrary<Build> = fc.oneof(
    fc.integer().map((value) => () => value),
    fc.string().map((value) => () => value),
    fc.constant(() => undefined),
    fc.date({ noInvalidDate: true }).map((value) => () => new Date(value)),
    length.map((each) => () => bytes(each)),
    length.map((each) => () => bytes(each).buffer),
    length.map((each) => () => bytes(each + 3, 1, each)),
    length.map((each) => () => new Float64Array(each).fill(each)),
    length.map((each) => () => new DataView(new ArrayBuffer(each))),
  );
  const keys = fc.string({ maxLength: 4 });
  const node = tie("node");
  return {
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.array(node, { maxLength: 4 }).map((values) => () => values.map((build) => build())),
      fc.array(fc.tuple(keys, node), { maxLength: 4 }).map(
        (entries) => () =>
          entries.reduce<object>(
            (made, [key, build]) =>
              Object.defineProperty(made, key, {
                value: build(),
                enumerable: true,
                configurable: true,
                writable: true,
              }),
            {},
          ),
      ),
      fc
        .array(fc.tuple(keys, node), { maxLength: 3 })
        .map((entries) => () => new Map(entries.map(([key, build]) => [key, build()]))),
      fc.array(node, { maxLength: 3 }).map((values) => () => new Set(values.map((build) => build()))),
    ),
  };
}).node;

/** Returns every view and buffer in a value. */
function memoryIn(value: unknown, seen = new Set<object>()): (ArrayBuffer | ArrayBufferView)[] {
  if (value === null || typeof value !== "object" || seen.has(value)) return [];
  seen.add(value);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return [value];
  const children = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : Object.values(value);
  return children.flatMap((child) => memoryIn(child, seen));
}

describe("for any graph,", () => {
  test("the received value equals a structured clone, and exactly the whole buffers were moved", () => {
    fc.assert(
      fc.property(graphs, fc.boolean(), fc.boolean(), (build, shared, cyclic) => {
        const node = build();
        const root: Record<string, unknown> = { node };
        if (shared) root["again"] = [node];
        if (cyclic) root["self"] = root;
        const expected = structuredClone(root);
        const all = memoryIn(root);
        const whole = all.filter((each) => each instanceof ArrayBuffer || each.byteLength === each.buffer.byteLength);
        const partial = all.filter((each) => !whole.includes(each));
        const { arrived, found } = send(root);
        expect(arrived).toEqual(expected);
        // A view of a moved buffer may throw when its length is read.
        for (const each of whole) expect((ArrayBuffer.isView(each) ? each.buffer : each).byteLength).toBe(0);
        for (const each of partial) expect(each.byteLength).toBeGreaterThan(0);
        // No arriving buffer is larger than its view, so no bytes outside a view arrive.
        for (const each of memoryIn(arrived)) {
          if (ArrayBuffer.isView(each)) expect(each.byteLength).toBe(each.buffer.byteLength);
        }
        expect(found.copies.reduce((sum, copy) => sum + copy.bytes, 0)).toBe(
          partial.reduce((sum, each) => sum + each.byteLength, 0),
        );
      }),
    );
  });
});

describe("move()", () => {
  const under = (value: unknown, transfer?: object[]): MovedValue => move(value, transfer) as unknown as MovedValue;

  test("moves exactly the listed objects", () => {
    const view = bytes(64, 0, 8);
    expect(transferOf(under(view, [view.buffer]), 10, true)).toMatchObject({ transfer: [view.buffer], movedBytes: 64 });
    expect(transferOf(under(view, []), 10, false)).toMatchObject({ transfer: [], movedBytes: 0 });
  });

  test("copies a part of a buffer, and throws for other copies, and under strict for that one, too", () => {
    const found = transferOf(under(bytes(64, 0, 8)), 10, false);
    expect(found).toMatchObject({ movedBytes: 0, copies: [{ reason: "partial-view", bytes: 8 }] });
    // The copy itself moves.
    expect(found.transfer).toEqual([(found.value as Uint8Array).buffer]);
    const refused = expect.objectContaining({ code: "would-copy" });
    expect(() => transferOf(under(bytes(64, 0, 8)), 10, true)).toThrowError(refused);
    const many = Array.from({ length: 20 }, () => bytes(8));
    expect(() => transferOf(under(many), 10, false)).toThrowError(refused);
  });

  test("cannot be cloned inside another value", () => {
    expect(() => structuredClone({ moved: move(bytes(8)) })).toThrow();
  });
});

test("an object with a constructor of null is searched like any other", () => {
  const view = new Uint8Array(8);
  for (const value of [
    { constructor: null, view },
    Object.assign(Object.create(null), { view }),
    { constructor: 5, view },
  ]) {
    expect(findMovable(value).transfer).toEqual([view.buffer]);
  }
});
