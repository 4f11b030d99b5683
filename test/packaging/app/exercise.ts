// SPDX-License-Identifier: MIT OR Apache-2.0
// Uses a little of every feature. Returns the results as plain data, which are the same on every host.
import { ClearwayError, move, type pool } from "clearway";
import { measure } from "clearway/meter";
import type tasks from "./tally.tasks.js";

type Tally = ReturnType<typeof pool<typeof tasks>>;

export async function exercise(tally: Tally) {
  const sum: number = await tally.call.add(2, 3);

  const given = Uint8Array.of(1, 2, 3);
  const raised: Uint8Array = await tally.call.raise(move(given));

  const counted: number[] = [];
  const progress: unknown[] = [];
  for await (const n of tally.with({ onProgress: (value) => progress.push(value) }).call.countTo(100)) counted.push(n);

  const refusal = await tally.call.refuse("entry").then(
    () => undefined,
    (error: unknown) =>
      error instanceof RangeError ? `${error.name}: ${error.message} (${error.cause})` : String(error),
  );
  const entries = [await tally.call.enter(), await tally.call.enter()];

  const measured = await measure(() => tally.call.add(4, 5), { hz: 60 });

  // `ready` waits for the code for histograms, which loads later.
  await tally.ready();
  const timed = tally.stats().tasks["add"]?.runUs?.count;

  await tally.close();
  const late = await tally.call.add(1, 1).then(
    () => undefined,
    (error: unknown) => error instanceof ClearwayError && typeof error.code,
  );

  return {
    sum,
    raised: [...raised],
    bytesLeftWithTheSender: given.byteLength,
    counted: counted.length === 100 && counted.every((n, i) => n === i + 1),
    progress,
    refusal,
    entries,
    measured: measured.value,
    timed,
    late,
  };
}
