// SPDX-License-Identifier: MIT OR Apache-2.0
import { move, type Pool, pool, run, type Stream } from "clearway";
import { resource, type TaskContext, task, testContext, withResources } from "clearway/worker";
import { expectTypeOf } from "vitest";
import tasks from "./module.js";

// Type-checked by `types.node.test.ts`. Never run.

type Module = typeof import("./module.js");
declare const images: Pool<Module>;
const { call } = images;
const bytes = new Uint8Array(8);

// A plain task returns a promise of its result. Optional and rest parameters stay optional and rest.
expectTypeOf(call.checksum(bytes)).toEqualTypeOf<Promise<number>>();
expectTypeOf(call.checksum(bytes, 1)).toEqualTypeOf<Promise<number>>();
expectTypeOf(call.join("a", "b", "c")).toEqualTypeOf<Promise<string>>();
expectTypeOf(call.later(1)).toEqualTypeOf<Promise<{ value: number }>>();
expectTypeOf(call.nothing()).toEqualTypeOf<Promise<void>>();
expectTypeOf(call.fails()).toEqualTypeOf<Promise<never>>();
expectTypeOf(call.union("a")).toEqualTypeOf<Promise<string | number>>();
expectTypeOf(call.limited(1)).toEqualTypeOf<Promise<number>>();
// The caller gets the value that a task moves, without the `move()` wrapper.
expectTypeOf(await call.moved()).toExtend<Uint8Array>();

// Any argument can be moved.
expectTypeOf(call.checksum(move(bytes), 1)).toEqualTypeOf<Promise<number>>();

// A generator returns a stream, with or without a context. The caller does not see the context.
expectTypeOf(call.upload("a")).toEqualTypeOf<Stream<{ path: string; percent: number }, number>>();
expectTypeOf(call.upload).parameters.items.not.toExtend<TaskContext>();
expectTypeOf(call.count(1)).toEqualTypeOf<Stream<number, "end">>();
for await (const each of call.count(1)) expectTypeOf(each).toEqualTypeOf<number>();

// A task may take a stream of plain or moved values.
async function* chunks() {
  yield bytes;
}
async function* movedChunks() {
  yield move(bytes);
}
expectTypeOf(call.doubles(chunks())).toEqualTypeOf<Stream<number, void>>();
expectTypeOf(call.doubles(movedChunks())).toEqualTypeOf<Stream<number, void>>();

// Leased resources are hidden from the caller, and typed inside the task.
expectTypeOf(call.ask("a")).toEqualTypeOf<Promise<number>>();
const leased = withResources({ db: resource({ open: async () => ({ rows: 3 }) }) });
leased(({ db, signal, progress, cancelled }) => {
  expectTypeOf(db).toEqualTypeOf<{ rows: number }>();
  expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
  expectTypeOf(cancelled).toEqualTypeOf<boolean>();
  progress(db.rows);
});

// with() and run() keep the types. A progress listener may declare its value's type.
expectTypeOf(images.with({ onProgress: (percent: number) => percent }).call.later(1)).toEqualTypeOf<
  Promise<{ value: number }>
>();
expectTypeOf(run<Module>(new URL("x:")).call.later(1)).toEqualTypeOf<Promise<{ value: number }>>();
expectTypeOf(pool<Module>("x")).toEqualTypeOf<Pool<Module>>();
pool<Module>(() => new Worker("x"));

// A unit test calls a task with its own context.
expectTypeOf(tasks.checksum(bytes)).toEqualTypeOf<number>();
tasks.upload(testContext(), "a");
task(async ({ signal }, value: number) => signal.aborted && value);

// The following must not compile.
// @ts-expect-error no such task
call.chekcsum(bytes);
// @ts-expect-error a missing argument
call.checksum();
// @ts-expect-error an argument of the wrong type
call.checksum("bytes");
// @ts-expect-error too many arguments
call.later(1, 2);
// @ts-expect-error the caller does not pass the context
call.upload(testContext(), "a");
// @ts-expect-error another type under move()
call.checksum(move("bytes"));
// @ts-expect-error a stream of the wrong values
call.doubles(call.count(1));
// @ts-expect-error a promise is not a stream
for await (const _each of call.later(1));
// @ts-expect-error no such option
images.with({ timeout: 5 });
// @ts-expect-error not a value of whenFull
pool<Module>("x", { queue: { whenFull: "block" } });
// @ts-expect-error a context without its resources
tasks.ask(testContext(), "a");
// @ts-expect-error no such resource
leased(({ cache }) => cache);
