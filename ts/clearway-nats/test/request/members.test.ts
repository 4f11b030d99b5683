// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { hashOf } from "../../src/request/members.js";
import fc from "../fixtures/fast-check.js";

const pick = (key: string, ids: readonly string[]): string =>
  ids.reduce((best, id) => (hashOf(key, id) > hashOf(key, best) ? id : best));

const workers = fc.uniqueArray(fc.string({ minLength: 22, maxLength: 22 }), { minLength: 2, maxLength: 20 });

test("only the keys of a worker that ends move to other workers", () => {
  fc.assert(
    fc.property(workers, fc.array(fc.string(), { maxLength: 50 }), (ids, keys) => {
      const [gone, ...rest] = ids;
      for (const key of keys) if (pick(key, ids) !== gone) expect(pick(key, rest)).toBe(pick(key, ids));
    }),
  );
});

test("keys are spread over the workers", () => {
  const ids = ["worker-1", "worker-2", "worker-3", "worker-4"];
  const counts = new Map<string, number>();
  for (let key = 0; key < 10_000; key++) {
    const id = pick(`user-${key}`, ids);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  for (const id of ids) expect(counts.get(id)).toBeGreaterThan(2_250);
});
