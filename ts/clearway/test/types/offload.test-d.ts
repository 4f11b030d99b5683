// SPDX-License-Identifier: MIT OR Apache-2.0
import { move, type Stream } from "clearway";
import { type OffloadCall, type OffloadOptions, offload } from "clearway/offload";
import { expectTypeOf } from "vitest";

// The check of types compiles this file against the built declarations. It never runs.

const bytes = new Uint8Array(8);

// The result is a promise of the function's awaited result.
expectTypeOf(offload(() => 1)).toEqualTypeOf<Promise<number>>();
expectTypeOf(offload(async () => "a")).toEqualTypeOf<Promise<string>>();
expectTypeOf(offload((a: number, b: string) => ({ a, b }), 1, "x")).toEqualTypeOf<Promise<{ a: number; b: string }>>();
expectTypeOf(
  offload((): never => {
    throw new Error();
  }),
).toEqualTypeOf<Promise<never>>();
// The value of a result under `move()` arrives without it.
expectTypeOf(await offload(() => move(new Uint8Array(1)))).toExtend<Uint8Array>();

// A generator gives a stream.
expectTypeOf(
  offload(function* (count: number) {
    yield count;
    return "end";
  }, 3),
).toEqualTypeOf<Stream<number, string>>();
expectTypeOf(
  offload(async function* () {
    yield "a";
  }),
).toEqualTypeOf<Stream<string, void>>();

// An argument may move, or be a stream.
expectTypeOf(offload((given: Uint8Array) => given.length, move(bytes))).toEqualTypeOf<Promise<number>>();
async function* chunks() {
  yield bytes;
}
expectTypeOf(
  offload(async (each: AsyncIterable<Uint8Array>) => {
    let length = 0;
    for await (const chunk of each) length += chunk.length;
    return length;
  }, chunks()),
).toEqualTypeOf<Promise<number>>();

// @ts-expect-error an argument is missing
offload((a: number) => a);
// @ts-expect-error an argument has the wrong type
offload((a: number) => a, "1");
// @ts-expect-error the first argument is a function
offload(1);

// `with()` has the options of a pool's call that need no task module.
expectTypeOf(
  offload.with({ priority: 1, timeoutMs: 5, signal: new AbortController().signal }),
).toEqualTypeOf<OffloadCall>();
expectTypeOf<keyof OffloadOptions>().toEqualTypeOf<
  "signal" | "timeoutMs" | "deadlineMs" | "key" | "priority" | "strict" | "window" | "retries"
>();
// @ts-expect-error placement needs a task module
offload.with({ placement: "inline" });
expectTypeOf(offload.with({ priority: 1 })((a: number) => a, 1)).toEqualTypeOf<Promise<number>>();
