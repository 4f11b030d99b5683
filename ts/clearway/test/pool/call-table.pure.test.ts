// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import type { PoolCall } from "../../src/pool/call/call.js";
import { CallTable } from "../../src/pool/worker/worker.js";
import fc from "../fixtures/fast-check.js";

test("a table of calls has the same content as a map, at any sequence of additions and removals", () => {
  // Ids with equal low bits collide in the table.
  const id = fc.tuple(fc.nat(4), fc.nat(3)).map(([low, high]) => low + high * 1024);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), id), { maxLength: 80 }), (steps) => {
      const table = new CallTable();
      const map = new Map<number, { id: number }>();
      for (const [comes, id] of steps) {
        if (!comes) {
          table.delete(id);
          map.delete(id);
        } else if (!map.has(id)) {
          const call = { id } as PoolCall;
          table.set(id, call);
          map.set(id, call);
        }
        expect(table.get(id)).toBe(map.get(id));
        expect(table.size).toBe(map.size);
        expect(table.values()).toEqual([...map.values()].sort((a, b) => a.id - b.id));
      }
    }),
  );
});
