// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test, vi } from "vitest";
import { globals } from "../../../src/globals.js";
import { findMovable } from "../../../src/transfer/move.js";
import { Assembly } from "../../../src/transport/slices/assembly.js";
import { cut, postPieces } from "../../../src/transport/slices/cut.js";
import { Fill, type Piece } from "../../../src/transport/slices/piece.js";
import { TurnBudget, turnBudgetMs } from "../../../src/transport/turn-budget.js";
import { cloneSharesAll } from "../../fixtures/capabilities.js";
import fc, { cases } from "../../fixtures/fast-check.js";
import { shapeOf } from "../../fixtures/shape-of.js";
import { FakeTurns } from "../../stream/fake-turns.js";

// Only a value of this many nodes is ever cut.
const filler = Array.from({ length: 1_000 }, (_, at) => at);

/** Posts a value in pieces. Returns the port of the first piece, and their number. */
function post(value: unknown, nodesPerPiece: number): { port: MessagePort; count: number } {
  const { value: copy, graph, transfer } = findMovable(value);
  let port!: MessagePort;
  const posted = postPieces(cut(copy, graph!, nodesPerPiece), transfer, (first) => {
    port = first;
  });
  const count = [...posted].length;
  return { port, count };
}

async function crossed(value: unknown, nodesPerPiece: number): Promise<unknown> {
  const { port, count } = post(value, nodesPerPiece);
  const assembly = new Assembly(port);
  expect(assembly.expect(count)).toBe(true);
  return assembly.value;
}

type Recipe = { kind: string; leaf: unknown; links: number[] }[];

const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(undefined, null, -0, Number.NaN, Number.POSITIVE_INFINITY, "__proto__", "then", "x".repeat(5_000)),
);
const kinds = [
  "object",
  "list",
  "long list",
  "list with getters",
  "holes",
  "very long holes",
  "named",
  "map",
  "set",
  // Pieces keep the identity of these in every engine.
  ...(cloneSharesAll ? ["error", "own error", "date", "pattern"] : []),
  "getter",
  "class",
  "bare",
  "proto",
  "boxed",
  "bytes",
  "words",
  "buffer",
  "view",
  "half",
  "other half",
];

// The views of one buffer have this length, and no other view has.
const halfBytes = 12_000;
const sharedMemory = new Set([halfBytes]);
const recipe: fc.Arbitrary<Recipe> = fc.array(
  fc.record({ kind: fc.constantFrom(...kinds), leaf, links: fc.array(fc.nat(), { maxLength: 6 }) }),
  { minLength: 1, maxLength: 40 },
);

class OwnError extends Error {
  override name = "OwnError";
}

class Point {
  x = 1;
  y: unknown;
}

/** Makes a graph of a recipe: an object for each entry, whose contents are other entries. */
function graphOf(entries: Recipe): unknown {
  const chain = new TypeError("last", { cause: new RangeError("first", { cause: { why: filler.slice(0, 500) } }) });
  const causes: object[] = [{ why: 1 }, [2], new Date(3), new Map([["rows", filler.slice(0, 500)]])];
  if (cloneSharesAll) causes.push(chain);
  // Together, the views show all of it, so it moves and stays one.
  const memory = new ArrayBuffer(halfBytes * 2);
  const halves = [new Uint16Array(memory, 0, halfBytes / 2), new Uint8Array(memory, halfBytes)];
  const objects = entries.map(({ kind, leaf: value }, at) => {
    if (kind === "long list") return Array.from({ length: 300 }, (_, row) => ({ row, value }));
    if (kind === "half") return halves[0];
    if (kind === "other half") return halves[1];
    if (/list|holes|named/.test(kind)) return [value];
    if (kind === "map") return new Map<unknown, unknown>([[value, at]]);
    if (kind === "set") return new Set<unknown>([value]);
    if (kind === "error") return new RangeError(String(value));
    if (kind === "own error") return Object.assign(new OwnError(String(value)), { extra: value });
    if (kind === "class") return new Point();
    if (kind === "bare") return Object.create(null) as object;
    if (kind === "date") return new Date(at % 2 ? at : Number.NaN);
    if (kind === "pattern") return /a+/g;
    if (kind === "boxed") return Object(value ?? at) as object;
    if (kind === "bytes") return new Uint8Array(at);
    if (kind === "words") return new BigInt64Array([1n, 2n]);
    if (kind === "buffer") return new ArrayBuffer(at + 1);
    if (kind === "view") return new DataView(new ArrayBuffer(4));
    return { value };
  });
  entries.forEach(({ kind, links }, at) => {
    const object = objects[at] as Record<PropertyKey, unknown>;
    for (const [place, link] of links.entries()) {
      const other = objects[link % objects.length];
      if (object instanceof Map) object.set(place % 2 ? other : place, other);
      else if (object instanceof Set) object.add(other);
      // Node cannot read an error whose causes are a cycle.
      else if (/error/.test(kind)) object["cause"] = causes[link % causes.length];
      else if (kind === "list with getters")
        Object.defineProperty(object, place + 1, { get: () => other, enumerable: true });
      else if (kind === "very long holes") object[100_000 - place] = other;
      else if (kind === "hidden")
        Object.defineProperties(object, {
          [`hidden ${place}`]: { value: other },
          [Symbol()]: { value: other, enumerable: true },
        });
      else if (kind === "list" || kind === "long list") (object as unknown as unknown[]).push(other);
      else if (kind === "holes") object[place * 3 + 2] = other;
      else if (kind === "named") object[place % 2 ? `name ${place}` : (object["length"] as number)] = other;
      else if (kind === "proto")
        Object.defineProperty(object, "__proto__", { value: other, enumerable: true, configurable: true });
      else if (kind === "getter") Object.defineProperty(object, `get ${place}`, { get: () => other, enumerable: true });
      else if (["object", "class", "bare"].includes(kind)) object[`key ${place}`] = other;
    }
  });
  return { first: objects[0], all: objects, causes, halves };
}

describe("a value that crosses in pieces", () => {
  test("arrives as structured clone copies it, for any graph and any size of the pieces", async () => {
    await fc.assert(
      fc.asyncProperty(recipe, fc.constantFrom(1, 2, 3, 7, 50, 400, 100_000), async (entries, nodes) => {
        const graph = graphOf(entries);
        // Structured clone moves nothing here, so the value can be sent afterwards.
        const expected = structuredClone(graph);
        const { value, filler: more } = (await crossed({ value: graph, filler }, nodes)) as Record<string, unknown>;
        expect(shapeOf(value, sharedMemory)).toBe(shapeOf(expected, sharedMemory));
        expect(more).toEqual(filler);
      }),
      { numRuns: cases(150) },
    );
  });

  test.each([
    ["a list", Array.from({ length: 5_000 }, (_, id) => ({ id }))],
    ["a list in an object", { rows: Array.from({ length: 5_000 }, (_, id) => [id]), total: 5_000 }],
    [
      "an object with many properties",
      Object.fromEntries(Array.from({ length: 3_000 }, (_, id) => [`k${id}`, { id }])),
    ],
    ["a map", new Map(Array.from({ length: 3_000 }, (_, id) => [{ id }, [id]]))],
    ["a set", new Set(Array.from({ length: 3_000 }, (_, id) => ({ id })))],
    ["lists in a map in a list", [new Map([["rows", Array.from({ length: 4_000 }, (_, id) => ({ id }))]])]],
    ["many small lists", Array.from({ length: 40 }, () => Array.from({ length: 100 }, (_, id) => ({ id })))],
    ["a tree", tree(11)],
  ])("is cut evenly: %s", (_what, value) => {
    const { value: copy, graph } = findMovable(value);
    const pieces = [...iterate(cut(copy, graph!, 500))].map(([, , , nodes]) => nodes);
    // The last pieces have what is left.
    for (const nodes of pieces.slice(0, -1)) expect(nodes).toBeGreaterThanOrEqual(500);
    for (const nodes of pieces) expect(nodes).toBeLessThan(700);
  });

  test("stays as it was when it was posted, whatever its owner does later", async () => {
    const rows = Array.from({ length: 5_000 }, (_, id) => ({ id }));
    const { port } = post(rows, 100);
    rows[4_999]!.id = -1;
    rows.length = 0;
    const arrived = (await new Assembly(port).value) as typeof rows;
    expect(arrived).toHaveLength(5_000);
    expect(arrived[4_999]).toEqual({ id: 4_999 });
  });

  test("arrives as plain objects that can be changed", async () => {
    const [first, ...rest] = (await crossed(
      Array.from({ length: 2_000 }, (_, id) => ({ id })),
      100,
    )) as Record<string, unknown>[];
    first!["name"] = "new";
    expect(first).toEqual({ id: 0, name: "new" });
    expect(Object.getPrototypeOf(rest)).toBe(Array.prototype);
  });

  test("moves its memory with the first piece, and the same memory stays one object", async () => {
    const bytes = new Uint8Array(1_000).fill(7);
    const rows = Array.from({ length: 3_000 }, (_, id) => (id % 1_000 ? { id } : { id, bytes, whole: bytes.buffer }));
    const { port } = post(rows, 100);
    expect(bytes.byteLength).toBe(0);
    const arrived = (await new Assembly(port).value) as typeof rows;
    const [first, last] = [
      arrived[0] as { bytes: Uint8Array; whole: ArrayBuffer },
      arrived[2_000] as { bytes: Uint8Array },
    ];
    expect(first.bytes).toHaveLength(1_000);
    expect(last.bytes).toBe(first.bytes);
    expect(first.whole).toBe(first.bytes.buffer);
  });
});

describe("an object that structured clone copies as a whole", () => {
  const wholes: [what: string, make: () => object][] = [
    ["a Blob", () => new Blob(["text"], { type: "text/plain" })],
    ["a File", () => new File(["text"], "name.txt", { lastModified: 5 })],
    ["shared memory", () => new SharedArrayBuffer(8)],
    ["a DOMException", () => new DOMException("message", "AbortError")],
  ];
  // Within one piece, the engine's structured clone decides whether an object stays one.
  const stayOne = (make: () => object): boolean => {
    try {
      const whole = make();
      const [first, second] = structuredClone([whole, whole]);
      return first === second;
    } catch {
      return false;
    }
  };
  for (const [what, make] of wholes) {
    test.runIf(stayOne(make))(`is the same object in all pieces: ${what}`, async () => {
      const whole = make();
      // The last one is in a later piece than the others.
      const { first, rows } = (await crossed({ first: whole, rows: [whole, ...filler, whole] }, 100)) as {
        first: object;
        rows: object[];
      };
      expect(rows[0]).toBe(first);
      expect(rows.at(-1)).toBe(first);
      expect(shapeOf(first)).toBe(shapeOf(structuredClone(whole)));
    });
  }
});

function tree(depth: number): object {
  return depth === 0 ? { leaf: true } : { left: tree(depth - 1), right: tree(depth - 1) };
}

function* iterate<T>(iterator: Iterator<T, undefined>): Generator<T> {
  for (let step = iterator.next(); !step.done; step = iterator.next()) yield step.value;
}

/** Lets the messages of this thread arrive. */
const messages = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

describe("the reader of pieces", () => {
  test("takes no piece once the turn's time for streams is spent, and goes on in the next turn", async () => {
    const turns = new FakeTurns();
    let reads = 0;
    // The clock is read twice for each piece, and each piece uses up a turn. A browser's reader reads it once more, to find no message yet.
    const read = (): number => {
      reads++;
      turns.nowMs += turnBudgetMs / 2;
      return turns.nowMs;
    };
    const { port, count } = post(filler, 100);
    const assembly = new Assembly(port, new TurnBudget(turns), read);
    let done = false;
    void assembly.value.then(() => {
      done = true;
    });
    let played = 0;
    for (; !done; played++) {
      const before = reads;
      turns.turn();
      await messages();
      expect(reads - before).toBeLessThanOrEqual(3);
    }
    expect(reads).toBeGreaterThanOrEqual(count * 2);
    expect(played).toBeGreaterThanOrEqual(count - 1);
  });

  test("measures how fast the pieces arrive", async () => {
    let nowMs = 0;
    // Each piece reads the clock twice.
    const assembly = new Assembly(post(filler, 100).port, undefined, () => (nowMs += 2));
    await assembly.value;
    expect(assembly.nodesPerMs).toBeGreaterThan(45);
    expect(assembly.nodesPerMs).toBeLessThan(65);
  });

  test.each([0, 1, 2])(
    "gives up at once if piece %d cannot be posted, and the port of the first one crosses before",
    async (refused) => {
      const ports: MessagePort[] = [];
      function* pieces(): Iterator<Piece, undefined> {
        for (let at = 0; at < refused; at++) yield [[0, Fill.elements, [at]], [], [], 1];
        yield [[0, Fill.elements, [() => {}]], [], [], 1];
        return undefined;
      }
      const moved = new ArrayBuffer(8);
      expect(() => [...postPieces(pieces(), [moved], (port) => void ports.push(port))]).toThrow(DOMException);
      expect(moved.byteLength).toBe(refused === 0 ? 8 : 0);
      expect(ports).toHaveLength(1);
      await expect(new Assembly(ports[0]!).value).rejects.toMatchObject({ code: "protocol" });
    },
  );

  test("settles nothing after it was closed, at any piece", async () => {
    const { count, port: unread } = post(filler, 100);
    unread.close();
    for (let stop = 0; stop < count; stop++) {
      const { port } = post(filler, 100);
      let left = stop;
      const assembly = new Assembly(port, { isSpent: true, pause: (next) => void (left-- > 0 && setTimeout(next)) });
      let settled = false;
      void assembly.value.finally(() => {
        settled = true;
      });
      assembly.close();
      await messages();
      expect(settled).toBe(false);
    }
  });

  const endless: unknown[] = [];
  endless.length = 2 ** 24;
  const end = undefined;
  test.each<[what: string, piece: unknown]>([
    ["no list", { fills: [] }],
    ["a list without contents", []],
    ["no work", [[0, 0, [1]], [], [], 0, end]],
    ["work that is no number", [[0, 0, [1]], [], [], Number.NaN, end]],
    ["a place that does not exist", [[7, 0, [1]], [], [], 1, end]],
    ["a place that is no index", [["length", 0, [1]], [], [], 1, end]],
    ["a place that is __proto__", [["__proto__", 1, ["injected", 0], 0, 0, [1]], [], [], 1, end]],
    ["a reference to __proto__", [[0, 0, [1]], [], [{ a: 1 }, "a", "__proto__"], 1, end]],
    ["contents that are no list", [[0, 0, 5], [], [], 1, end]],
    ["contents of an impossible length", [[0, 0, endless], [], [], 1, end]],
    ["very many holders that are none", [[0, 0, [1]], endless, [], 1, end]],
    ["a holder that is no object", [[0, 0, [1]], [5], [], 1, end]],
    ["entries for a list", [[0, 3, [1, 2]], [], [], 1, end]],
    ["members for a list", [[0, 2, [1, 2]], [], [], 1, end]],
    ["elements for a map", [[0, 0, [1], 1, 0, [1]], [new Map()], [], 1, end]],
    ["a reference to nothing", [[0, 0, [1]], [], [{ a: 1 }, "a", 9], 1, end]],
    ["a reference that would set a prototype", [[0, 0, [1]], [{}], [{}, "__proto__", 1], 1, end]],
    ["no value", [[], [], [], 1, end]],
    ["two values", [[0, 0, [1, 2]], [], [], 1, end]],
    ["a next port that is none", [[0, 0, [1]], [], [], 1, { close: 1 }]],
  ])("rejects with protocol if a piece has %s", async (_what, piece) => {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(piece);
    await expect(new Assembly(port2).value).rejects.toMatchObject({ code: "protocol" });
    expect(Object.hasOwn(Array.prototype, "injected")).toBe(false);
    port1.close();
  });

  test("rejects with protocol if there are more pieces than announced", async () => {
    const { port, count } = post(filler, 100);
    const assembly = new Assembly(port, { isSpent: false, pause: () => {} });
    // The reader of Node has taken all of them by now, a browser's none.
    if (!assembly.expect(count - 2)) return;
    await expect(assembly.value).rejects.toMatchObject({ code: "protocol" });
  });

  test("refuses a number of pieces that have not come although the value is complete", async () => {
    const { port, count } = post(filler, 100);
    const assembly = new Assembly(port);
    await assembly.value;
    expect(assembly.expect(count + 1)).toBe(false);
    expect(assembly.expect(count)).toBe(true);
  });

  test("rejects with protocol if an announced piece does not come in 30 s", async () => {
    const due: [() => void, number | undefined][] = [];
    const set = vi.spyOn(globals, "setTimeout").mockImplementation((act, ms) => {
      due.push([act, ms]);
      return 0 as never;
    });
    const { port1, port2 } = new MessageChannel();
    const assembly = new Assembly(port2);
    assembly.expect(5);
    set.mockRestore();
    const [act, ms] = due.at(-1)!;
    expect(ms).toBe(30_000);
    act();
    await expect(assembly.value).rejects.toMatchObject({ code: "protocol" });
    port1.close();
  });
});
