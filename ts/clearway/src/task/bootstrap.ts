// SPDX-License-Identifier: MIT OR Apache-2.0
import { loadsOverNetwork } from "#host";
import { serving } from "#serving";
import { ClearwayError } from "../error/clearway-error.js";
import { clearTimeout, now, OwnPromise, queueMicrotask, setTimeout, type Timer, unref } from "../globals.js";
import { inDevelopment } from "../host/development.js";
import type { ParentEndpoint } from "../host/host.js";
import { prepareResult } from "../transfer/prepare-result.js";
import { frameSlots, type HelloSettings, isFrames, Op } from "../transport/protocol.js";
import { encoded, plain } from "./failures.js";
import { answer, answeredOrWaiting, type EarlyCall, plainTask, runEarly } from "./first-call.js";
import { errors, lazyLoads, preloadFor, ring } from "./lazy-modules.js";
import type { Server } from "./server.js";
import type { TaskDefinition } from "./task.js";
import { watched } from "./watched-endpoint.js";

// The functions of this file run once, when a worker starts, before V8 has compiled anything. The functions and their state are at module
// level, because V8 parses a nested function twice. One state is enough, because a worker exposes its tasks only once.

// Time in milliseconds after which the listener stops in a worker that is not Clearway's. A test runner's worker, for example, may import a
// task module. There, the listener must not keep the worker alive for ever. The time is long enough, because a pool sends its hello at
// once.
const foreignWaitMs = 10_000;

// Time without a call, in milliseconds, before a worker loads the lazy modules in `lazy-modules.ts`.
const idleMs = 10;

/** The tasks of a module, and its `setup`. */
export interface TaskModule {
  readonly names: readonly string[];
  readonly definitions: readonly TaskDefinition[];
  readonly setup: ((data: unknown) => unknown) | undefined;
}

let endpoint: ParentEndpoint;
let names: readonly string[];
let definitions: readonly TaskDefinition[];
/** The module's `setup`. */
let prepare: ((data: unknown) => unknown) | undefined;
/** The modules that were exposed and are not a part of another one. The worker needs exactly one. */
let modules: TaskModule[] = [];
/** Whether the worker still waits for the rest of its module, which may expose this module together with others. */
let loadingModule = false;
/** Whether `setup` is running. Until it has ended, messages wait. */
let preparing = false;
let foreignTimer: Timer | undefined;
let settings: HelloSettings | undefined;
let usesResources = false; // whether a task leases resources, which take long to open
let server: Server | undefined;
/** The id of the call that runs without a server. Empty once the call is answered. */
let runningIds: number[] = [];
let early: EarlyCall | undefined;
/** Whether a call was answered without a server. */
let answered = false;
/** Messages that arrived before there was a server. */
let waiting: (readonly unknown[])[] = [];
let loading = false;

/**
 * Greets the pool once the task module has run, and handles its messages. Before there is a server, a call that needs none runs at once. All
 * other messages wait for the server.
 *
 * A further call replaces the modules in `parts` by one that contains them. Throws `invalid-argument` if the worker has greeted already.
 */
export function receive(from: ParentEndpoint, module: TaskModule, parts: readonly TaskModule[]): void {
  const first = modules.length === 0;
  if (!first && !loadingModule) throw exposedTwice(", after its start");
  modules = [...modules.filter((each) => !parts.includes(each)), module];
  ({ names, definitions, setup: prepare } = module);
  if (!first) return;
  endpoint = from;
  loadingModule = true;
  endpoint.listen(onMessage, unreadable);
  if (endpoint.marked) {
    // The module may end its worker before the worker reads the pool's hello.
    endpoint.onEnding(ending);
    // The module may import several task modules, each of which exposes its tasks.
    return queueMicrotask(greetMarked);
  }
  foreignTimer = setTimeout(endpoint.ignore, foreignWaitMs);
  unref(foreignTimer);
}

function greetMarked(): void {
  if (loadingModule) greet(endpoint.greeting);
}

function exposedTwice(how: string): ClearwayError {
  return new ClearwayError(
    "invalid-argument",
    `expose() was called twice in one worker${how}: to run several task modules in one pool, combine them with exposeAll()`,
  );
}

function greet(greeting: unknown): void {
  const hello = greeting as HelloSettings | undefined;
  if (hello?.clearway !== 1) return;
  if (modules.length > 1) throw exposedTwice("");
  loadingModule = false;
  settings = hello;
  if (hello.warnings ?? inDevelopment()) endpoint = watched(endpoint, slow);
  if (foreignTimer !== undefined) clearTimeout(foreignTimer);
  if (!endpoint.marked) endpoint.onEnding(ending);
  if (prepare !== undefined || hello.setup !== undefined) void setUp(hello);
  else becomeReady();
}

// Runs the module's `setup`. The pool ends a worker whose `setup` fails.
async function setUp(hello: HelloSettings): Promise<void> {
  preparing = true;
  endpoint.holdLifeline(hello.lifeline);
  try {
    // The rest of the module runs first, because `setup` may use what it declares.
    await undefined;
    if (prepare === undefined)
      throw new Error("the pool has the option `setup`, but the module passes none to expose()");
    await prepare(hello.setup);
  } catch (reason) {
    return encoded(reason, (wire) => endpoint.post([Op.SetupFailed, 0, wire, 0], []));
  }
  preparing = false;
  becomeReady();
  for (const frames of waiting.splice(0)) onMessage(frames);
}

function becomeReady(): void {
  // Sends `Ready` at once, in its own message. A first call that has already arrived may take long.
  const tasks = [];
  for (let at = 0; at < names.length; at++) {
    const { kind, placement, resources } = definitions[at]!;
    tasks.push([names[at], kind, prepare ? "worker" : placement]);
    if (resources) usesResources = true;
  }
  endpoint.post([Op.Ready, 0, tasks, 0], []);
  // Loads the lazy modules later. Loading one takes a fraction of a millisecond, and requesting the lifeline (a lock) takes 1.5 ms. With
  // both here, a browser's first result took 1.3 times as long. Usually a first call arrives before the timer fires, and the lazy modules
  // are loaded after its answer. A timer costs 0.3 ms in Node, so only workers that gain from it start one.
  if (loadsOverNetwork || usesResources) setTimeout(preloadWhileIdle, idleMs);
}

// Loads the lazy modules that the first call may need, because there was no call yet. Does not make the server, because the first call may
// not need it.
function preloadWhileIdle(): void {
  if (server !== undefined || loading) return;
  endpoint.holdLifeline((settings as HelloSettings).lifeline);
  if (usesResources) serving.preload();
  preloadFor(definitions);
  preloadCommon();
}

// Loads the lazy modules that every worker needs at some time.
function preloadCommon(): void {
  errors.preload();
  if (settings?.ring) ring.preload();
}

function ending(): void {
  greetMarked();
  if (server) server.ending();
  else endpoint.post([Op.Ending, 0, runningIds, 0], []);
}

function unreadable(): void {
  if (server) server.unreadable();
  else if (settings) endpoint.post([Op.Unreadable, 0, 0, 0], []);
}

function onMessage(message: unknown): void {
  if (!isFrames(message)) return;
  if (server) return server.receive(message);
  let frames = message;
  if (frames[0] === Op.Hello) {
    if (settings === undefined) greet(frames[2]);
    frames = frames.slice(frameSlots);
  }
  if (settings === undefined || frames.length === 0) return;
  if (preparing) return void waiting.push(frames);
  if (handledEarly(frames, settings)) return;
  waiting.push(frames);
  preloadFor(definitions);
  serve();
}

// Handles a message without the server. Returns false if that is not possible. Handles one call at a time, and no message while others wait
// for the server.
function handledEarly(frames: readonly unknown[], hello: HelloSettings): boolean {
  if (frames.length > frameSlots || early !== undefined || waiting.length > 0) return false;
  const definition = plainTask(frames, names, definitions, hello);
  if (definition === undefined) return answerControlFrame(frames);
  runningIds = [frames[1] as number];
  endpoint.called?.(frames[1] as number, names[definitions.indexOf(definition)]!);
  early = runEarly(frames, definition, hello, endpoint);
  if (early === undefined) firstCallAnswered();
  if (early?.value instanceof OwnPromise) {
    void settle(early);
    void answeredOrWaiting(isFirstCallPending).then(serve);
  } else serve();
  return true;
}

// Reports that the copy of a task's result took long.
function slow(task: string, ms: number): void {
  if (server) server.slow(task, ms);
  else endpoint.post([Op.Slow, 0, task, ms], []);
}

// Returns whether the first call has returned a promise that has not settled.
function isFirstCallPending(): boolean {
  return early?.pending === true;
}

// Answers a frame other than a call, for an idle worker. Returns false if the server must handle the frame.
function answerControlFrame(frames: readonly unknown[]): boolean {
  const [op, id] = frames as [Op, number];
  if (op === Op.Ping) endpoint.post([Op.Pong, id, now(), 0], []);
  else if (op === Op.Close) {
    void OwnPromise.all([endpoint.printed(), hasProcesses && lazyLoads()]).then(() =>
      endpoint.post([Op.Closed, 0, 0, 0], []),
    );
  } else if (op === Op.Roll) endpoint.post([Op.Roll, 0, [], 0], []);
  else return false;
  return true;
}

// Records that the first call was answered.
function firstCallAnswered(): void {
  early = undefined;
  runningIds = [];
  answered = true;
}

// Answers when the call's promise settles. If there is a server by then, the server answers instead.
async function settle(call: EarlyCall): Promise<void> {
  call.pending = true;
  try {
    const value = await (call.value as Promise<unknown>);
    if (server === undefined && answer(call, value, endpoint)) return firstCallAnswered();
  } catch (reason) {
    call.thrown = { reason };
  }
  call.pending = false;
  // An earlier attempt to load the server may have failed.
  serve();
}

// Makes the server, now or once its code is loaded.
function serve(): void {
  if (server !== undefined || loading) return;
  loading = true;
  // In browsers, the pool notices a worker's death when this lock is released.
  endpoint.holdLifeline((settings as HelloSettings).lifeline);
  if (serving.exports) return startServer(serving.exports);
  serving.load().then(startServer, serverNotLoaded);
  if (early?.thrown) errors.preload();
  // Later calls need these lazy modules too. They load in parallel with the server.
  if (answered) preloadCommon();
}

function startServer({ Server }: Pick<typeof import("./server.js"), "Server">): void {
  server = new Server(endpoint, names, definitions, settings as HelloSettings, prepareResult);
  if (early) server.adopt(early);
  for (const message of waiting) server.receive(message);
  waiting = [];
  if (answered) server.preloadAll();
  else server.preloadForTasks();
}

// Handles a failed load of the server. Waiting calls fail with the reason. The next call tries again.
function serverNotLoaded(why: unknown): void {
  loading = false;
  if (early && !early.pending) {
    fail(early.id, early.thrown ? early.thrown.reason : why);
    firstCallAnswered();
  }
  const frames = waiting.flat();
  waiting = [];
  for (let at = 0; at < frames.length; at += frameSlots) {
    if (frames[at] === Op.Call) fail(frames[at + 1] as number, why);
    else answerControlFrame(frames.slice(at, at + frameSlots));
  }
}

function fail(id: number, reason: unknown): void {
  endpoint.post([Op.Failure, id, plain(reason), 0], []);
}
