// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CannotCross, move, type Pool, pool, type Results, run, type Stream } from "clearway";
import { type CallbackArgument, callback, type ProxyArgument, proxy, type Remote } from "clearway/callback";
import { type OffloadCall, type OffloadOptions, offload } from "clearway/offload";
import {
  type Exposed,
  expose,
  exposeAll,
  resource,
  type TaskContext,
  task,
  testContext,
  withResources,
} from "clearway/worker";
import { expectTypeOf } from "vitest";
import tasks, { type Json, type Logger, Money, type Node, Price } from "./module.js";

// The check of types compiles this file against the built declarations. It never runs.

type Module = typeof import("./module.js");
declare const images: Pool<Module>;
declare const plain: { add(a: number): number };
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

// The types are those of what arrives: a Uint8Array for a Buffer, the data of an instance, and an instance whose class says that it crosses.
type PriceData = { readonly amount: number; readonly paid?: Date | undefined; readonly cents: number };
expectTypeOf(call.buffer(8)).toEqualTypeOf<Promise<Uint8Array>>();
expectTypeOf(call.price(5)).toExtend<Promise<PriceData>>();
expectTypeOf<keyof Awaited<ReturnType<typeof call.price>>>().toEqualTypeOf<keyof PriceData>();
for await (const each of call.prices()) {
  expectTypeOf(each.raw).toEqualTypeOf<Uint8Array>();
  expectTypeOf<keyof (typeof each.all)[number]>().toEqualTypeOf<keyof PriceData>();
}
expectTypeOf(call.money(new Money(5))).toEqualTypeOf<Promise<Money>>();
declare const node: Node;
expectTypeOf(call.data(node)).toEqualTypeOf<Promise<Node>>();
expectTypeOf(call.json({ a: [1, null] })).toEqualTypeOf<Promise<Json>>();
expectTypeOf(call.anything(5, 5)).resolves.toBeAny();
expectTypeOf(call.maker()).toExtend<Promise<CannotCross<string>>>();
expectTypeOf(call.mark()).toExtend<Promise<CannotCross<string>>>();
expectTypeOf((await call.later2()).value).toExtend<CannotCross<string>>();
expectTypeOf(images.map.buffer([1])).toEqualTypeOf<Results<Uint8Array>>();
expectTypeOf(images.broadcast.buffer(1)).toEqualTypeOf<Promise<Uint8Array[]>>();

// An argument must arrive as its parameter says.
call.takesData(new Price(5));
call.takesOptions({ size: 5 });
// @ts-expect-error: a Buffer arrives as a Uint8Array
call.takesBuffer(Buffer.alloc(8));
// @ts-expect-error: an instance arrives without its methods
call.takesPrice(new Price(5));
// @ts-expect-error: an instance arrives without its methods
call.takesPrice(move(new Price(5)));
// @ts-expect-error: so do the values of a stream
call.takesPrices([new Price(5)]);
// @ts-expect-error: a function does not cross
call.takesFunction(() => 5);
// @ts-expect-error: nor in a mapping
images.map.takesPrice([new Price(5)]);
// @ts-expect-error: nor in a broadcast
images.broadcast.takesFunction(() => 5);
call.report(
  callback((bytes, price) => {
    expectTypeOf(bytes).toEqualTypeOf<Uint8Array>();
    return Buffer.alloc(price.amount);
  }),
  // @ts-expect-error: an instance arrives without its methods
  callback((price: Price) => void price.plus(price)),
);

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

// with() and run() keep the types.
expectTypeOf(images.with({ timeoutMs: 5 }).call.later(1)).toEqualTypeOf<Promise<{ value: number }>>();
expectTypeOf(run<Module>(new URL("x:")).call.later(1)).toEqualTypeOf<Promise<{ value: number }>>();
expectTypeOf(pool<Module>("x")).toEqualTypeOf<Pool<Module>>();
pool<Module>(() => new Worker("x"));

// What is missing in the caller's code is in the message of the compiler.
// @ts-expect-error: Property 'later' does not exist on type 'CallersOf<PoolNeedsTheTypeOfItsModule>'
pool("x").call.later(1);
// @ts-expect-error: the same
run("x").call.later(1);
// @ts-expect-error: Property 'add' does not exist on type 'CallersOf<DefaultExportMustComeFromExpose>'
pool<{ default: { add(a: number): number } }>("x").call.add(1);

// A task that declares the type of its progress gives it to the listener.
images.with({
  onProgress: (value) => expectTypeOf(value).toEqualTypeOf<{ done: number; raw: Uint8Array }>(),
});
run<Module>("x", { onProgress: ({ done }) => expectTypeOf(done).toEqualTypeOf<number>() });
// Otherwise the listener may declare it.
pool<typeof plain>("x").with({ onProgress: (value) => expectTypeOf(value).toBeUnknown() });
pool<typeof plain>("x").with({ onProgress: (percent: number) => percent });

// map() takes the first argument of each call from its inputs, and the further arguments from its options.
expectTypeOf(await images.map.later([1, 2])).toEqualTypeOf<{ value: number }[]>();
expectTypeOf(images.map.checksum([bytes, move(bytes)])).toEqualTypeOf<Results<number>>();
expectTypeOf(images.map.checksum(chunks(), { args: [5] })).toEqualTypeOf<Results<number>>();
expectTypeOf(images.map.join(["a"], { args: ["b", "c"] })).toEqualTypeOf<Results<string>>();
expectTypeOf(images.map.limited([Promise.resolve(1)])).toEqualTypeOf<Results<number>>();
expectTypeOf(images.map.fails([undefined])).toEqualTypeOf<Results<never>>();
expectTypeOf(images.with({ key: 1 }).map.scale([1], { args: [2] })).toEqualTypeOf<Results<number>>();
for await (const each of images.map.later([1], { onResult: ({ value }, index) => value + index })) {
  expectTypeOf(each).toEqualTypeOf<{ value: number }>();
}

// broadcast() gives the results of all workers.
expectTypeOf(images.broadcast.checksum(bytes)).toEqualTypeOf<Promise<number[]>>();
expectTypeOf(images.with({ timeoutMs: 5 }).broadcast.later(1)).toEqualTypeOf<Promise<{ value: number }[]>>();

// The pool's option `setup` has the type of the parameter of the module's `setup`.
interface Loaded {
  default: Exposed<{ find(word: string): number }, { path: string }>;
}
pool<Loaded>("x", { setup: { path: "words" } });
run<Loaded>("x", { setup: { path: "words" } });
expectTypeOf(pool<Loaded>("x").call.find("a")).toEqualTypeOf<Promise<number>>();
expectTypeOf(
  expose({ find: (word: string) => word.length }, { setup: ({ path }: { path: string }) => void path }),
).toEqualTypeOf<Exposed<{ readonly find: (word: string) => number }, { path: string }>>();

// A task's function is a function under callback(). Its parameters have their types, and it may be asynchronous or move its value.
expectTypeOf(
  call.asks(
    1,
    callback((at, memory) => {
      expectTypeOf(at).toEqualTypeOf<number>();
      expectTypeOf(memory).toExtend<Uint8Array>();
      return at > 1;
    }),
  ),
).toEqualTypeOf<Promise<boolean>>();
call.asks(
  1,
  callback(async () => true),
);
call.tells(callback((text) => text.length));
expectTypeOf(callback((at: number) => at)).toEqualTypeOf<CallbackArgument<(at: number) => number>>();
images.map.asks([1, 2], { args: [callback(() => true)] });
images.broadcast.tells(callback(() => {}));

// A task's object is an object under proxy(). It may have more members, and its methods may be asynchronous or move their values.
declare const logger: Logger & { close(): void };
expectTypeOf(call.logs("a", proxy(logger))).toEqualTypeOf<Promise<boolean>>();
call.logs("a", proxy(logger, { methods: ["log", "ask"], concurrency: 1 }));
call.logs("a", proxy({ log: async () => 5, ask: (bytes: Uint8Array) => move(bytes.length > 0) }));
images.map.logs(["a"], { args: [proxy(logger)] });
expectTypeOf(proxy(logger, { methods: ["close"] })).toEqualTypeOf<ProxyArgument<Pick<typeof logger, "close">>>();
expectTypeOf<keyof Remote<Logger> & string>().toEqualTypeOf<"log" | "ask">();
// A unit test passes any object whose methods return promises.
void tasks.logs("a", { log: async () => {}, ask: async () => true });
// A unit test passes an ordinary function.
expectTypeOf(tasks.asks(1, async (at: number) => at > 1)).toEqualTypeOf<Promise<boolean>>();

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
// @ts-expect-error data of the wrong type for the module's setup
pool<Loaded>("x", { setup: { path: 5 } });
// @ts-expect-error the module has no setup
pool<Module>("x", { setup: { path: "words" } });
// @ts-expect-error a callback with a parameter of the wrong type
call.tells(callback((number: number) => number));
call.asks(
  1,
  // @ts-expect-error a callback with a value of the wrong type
  callback(() => "yes"),
);
// @ts-expect-error a proxy without a method that the task calls
call.logs("a", proxy(logger, { methods: ["log"] }));
// @ts-expect-error a proxy with a parameter of the wrong type
call.logs("a", proxy({ log: (at: number) => at, ask: async () => true }));
// @ts-expect-error an object without proxy()
call.logs("a", logger);
// @ts-expect-error a proxy where the task expects a value
call.checksum(proxy(logger));
// @ts-expect-error a name of no method
proxy(logger, { methods: ["level"] });
// @ts-expect-error an option that callback() does not have
callback(() => {}, { limit: 5 });
// @ts-expect-error only one worker could receive it
images.broadcast.checksum(move(bytes));
// @ts-expect-error a task that gives a stream
images.broadcast.count(1);
// @ts-expect-error an input of the wrong type
images.map.later(["a"]);
// @ts-expect-error a text is not a list of inputs
images.map.later("12");
// @ts-expect-error a task that gives a stream
images.map.count([1, 2]);
// @ts-expect-error further arguments are missing
images.map.scale([1]);
// @ts-expect-error a further argument of the wrong type
images.map.scale([1], { args: ["a"] });
// @ts-expect-error run() makes one call
run<Module>("x").map;
// @ts-expect-error no such resource
leased(({ cache }) => cache);

// Tasks of combined modules have the names of their modules. Each setup has the data of its module.
const files = expose({ read: async (path: string) => path.length });
const prepared = expose({ has: (word: string) => word === "" }, { setup: (data: { file: string }) => void data });
const together = exposeAll({ files, prepared, all: exposeAll({ tasks, prepared }) });
declare const modules: Pool<{ default: typeof together }>;
expectTypeOf(modules.call["files.read"]("a")).toEqualTypeOf<Promise<number>>();
expectTypeOf(modules.call["all.tasks.checksum"](move(bytes), 1)).toEqualTypeOf<Promise<number>>();
expectTypeOf(modules.call["all.tasks.count"](1)).toEqualTypeOf<Stream<number, "end">>();
expectTypeOf(modules.map["files.read"](["a"])).toExtend<Results<number>>();
pool<{ default: typeof together }>("x:", {
  setup: { prepared: { file: "a" }, all: { prepared: { file: "a" } } },
});
// @ts-expect-error data for a module without a setup
pool<{ default: typeof together }>("x:", { setup: { files: 1 } });
// @ts-expect-error a task of no module
modules.call["files.write"]("a");
// @ts-expect-error tasks that expose() has not seen
exposeAll({ files: 5 });
const withoutSetup = exposeAll({ files });
// @ts-expect-error data, although no module has a setup
pool<{ default: typeof withoutSetup }>("x:", { setup: { files: 1 } });

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
