// SPDX-License-Identifier: MIT OR Apache-2.0
// Offloads functions of each kind. Returns the results as plain data, which are the same on every host.
import { offload } from "clearway/offload";
import type { Range } from "./primes.js";
import * as primes from "./primes.js";

const from = 10;
enum Step {
  Two = 2,
}

export async function exercise() {
  const range: Range = { from, to: 50 };
  const counted: number = await offload((to: number) => primes.count({ ...range, to }), 100);
  const looped: number[] = await Promise.all([1, 2, 3].map((factor) => offload(() => factor * from)));
  const streamed: number[] = [];
  const numbers = offload(function* (count: number) {
    for (let n = 0; n < count; n += Step.Two) yield n;
  }, 6);
  for await (const each of numbers) streamed.push(each);
  const nested: number = await offload(async () => {
    const inner = 5;
    const sum = await offload((n: number) => n + inner + from, 1);
    await offload.close();
    return sum;
  });
  const lazy: string = await offload(async () => (await import("./later.js")).later);
  const failed = await offload
    .with({ timeoutMs: 60_000 })(() => {
      throw new RangeError(`not ${from}`);
    })
    .then(
      () => undefined,
      (error: unknown) => String(error),
    );
  const loadedHere = primes.loads;
  await offload.close();
  return { counted, looped, streamed, nested, lazy, failed, loadedHere };
}
