// SPDX-License-Identifier: MIT OR Apache-2.0
import { now, partsTravel } from "#host";
import { serving } from "#serving";
import type { ParentEndpoint } from "../host/host.js";
import { makeReady } from "../transfer/search.js";
import { frameSlots, type HelloSettings, isFrames, Op } from "../transport/protocol.js";
import { plain } from "./failures.js";
import { answer, answeredOrWaiting, type EarlyCall, plainTask, runEarly } from "./first-call.js";
import { errors, expectParts, ring } from "./parts.js";
import type { Server } from "./server.js";
import type { TaskDefinition } from "./task.js";

// A worker's start runs each of these functions once, before anything is compiled. So they stand side by side, and what they
// share in the module: a function inside another is read twice, and a worker exposes once.

// A module may be imported in a worker that is not Clearway's (a test runner's). There, listening must not keep the
// worker alive for ever; a pool says hello at once, so this is long enough.
const foreignWaitMs = 10_000;

// Without a call, in milliseconds.
const idleMs = 10;

let endpoint: ParentEndpoint;
let names: readonly string[];
let definitions: readonly TaskDefinition[];
let foreign: ReturnType<typeof setTimeout> | undefined;
let settings: HelloSettings | undefined;
let leasing = false; // whether a task leases resources, which take long to open by themselves
let server: Server | undefined;
/** The call that runs without a server, until it is answered or the server's. */
let begun: number[] = [];
let early: EarlyCall | undefined;
/** Whether a call was answered without a server. */
let answered = false;
/** Messages that came before the server. */
let waiting: (readonly unknown[])[] = [];
let loading = false;

/**
 * Greets the pool and takes its messages: calls that need no server run at once while there is none, all else waits for it.
 * Once in a worker.
 */
export function receive(
  from: ParentEndpoint,
  taskNames: readonly string[],
  taskDefinitions: readonly TaskDefinition[],
): void {
  endpoint = from;
  names = taskNames;
  definitions = taskDefinitions;
  endpoint.listen(take, unreadable);
  if (endpoint.marked) {
    // The module may end its worker before the pool's hello is read.
    endpoint.onEnding(ending);
    return greet(endpoint.greeting);
  }
  foreign = setTimeout(endpoint.ignore, foreignWaitMs);
  if (typeof foreign === "object") (foreign as { unref?(): void }).unref?.();
}

function greet(greeting: unknown): void {
  const hello = greeting as HelloSettings | undefined;
  if (hello?.clearway !== 1) return;
  settings = hello;
  if (foreign !== undefined) clearTimeout(foreign);
  if (!endpoint.marked) endpoint.onEnding(ending);
  // By itself: a first call that has come already may take long.
  const tasks = [];
  for (let at = 0; at < names.length; at++) {
    const { kind, placement, resources } = definitions[at]!;
    tasks.push([names[at], kind, placement]);
    if (resources) leasing = true;
  }
  endpoint.post([Op.Ready, 0, tasks, 0], []);
  // A request takes a part of a millisecond, the lifeline 1.5 ms, which made a browser's first result 1.3 times as late. The first
  // call is there before, and asks itself when it has left what it could. In Node a timer takes 0.3 ms: only who gains has one.
  if (partsTravel || leasing) setTimeout(rest, idleMs);
}

// No call yet: what the first may want is asked for now. A server is made behind a first call that does not need it.
function rest(): void {
  if (server !== undefined || loading) return;
  endpoint.holdLifeline((settings as HelloSettings).lifeline);
  if (leasing) serving.expect();
  expectParts(definitions);
  expectLater();
}

// What every worker asks for, sooner or later.
function expectLater(): void {
  errors.expect();
  if (settings?.ring) ring.expect();
}

function ending(): void {
  if (server) server.ending();
  else endpoint.post([Op.Ending, 0, begun, 0], []);
}

function unreadable(): void {
  if (server) server.unreadable();
  else if (settings) endpoint.post([Op.Unreadable, 0, 0, 0], []);
}

function take(message: unknown): void {
  if (!isFrames(message)) return;
  if (server) return server.receive(message);
  let frames = message;
  if (frames[0] === Op.Hello) {
    if (settings === undefined) greet(frames[2]);
    frames = frames.slice(frameSlots);
  }
  if (settings === undefined || frames.length === 0 || isServed(frames, settings)) return;
  waiting.push(frames);
  expectParts(definitions);
  serve();
}

// Whether the message needed no server. One call at a time, and none before those that wait.
function isServed(frames: readonly unknown[], hello: HelloSettings): boolean {
  if (frames.length > frameSlots || early !== undefined || waiting.length > 0) return false;
  const definition = plainTask(frames, names, definitions, hello);
  if (definition === undefined) return isWord(frames);
  begun = [frames[1] as number];
  early = runEarly(frames, definition, hello, endpoint);
  if (early === undefined) leave();
  if (early?.value instanceof Promise) {
    void settle(early);
    void answeredOrWaiting(isEarly).then(serve);
  } else serve();
  return true;
}

// Whether the first call is still to be answered, as far as that is known.
function isEarly(): boolean {
  return early?.pending === true;
}

// What a worker answers that has nothing to do.
function isWord(frames: readonly unknown[]): boolean {
  const [op, id] = frames as [Op, number];
  if (op === Op.Ping) endpoint.post([Op.Pong, id, now(), 0], []);
  else if (op === Op.Close) {
    void Promise.resolve(endpoint.printed()).then(() => endpoint.post([Op.Closed, 0, 0, 0], []));
  } else if (op === Op.Roll) endpoint.post([Op.Roll, 0, [], 0], []);
  else return false;
  return true;
}

// The call was answered.
function leave(): void {
  early = undefined;
  begun = [];
  answered = true;
}

// Answers when it is there, if the server is not.
async function settle(call: EarlyCall): Promise<void> {
  call.pending = true;
  try {
    const value = await (call.value as Promise<unknown>);
    if (server === undefined && answer(call, value, endpoint)) return leave();
  } catch (reason) {
    call.thrown = { reason };
  }
  call.pending = false;
  // It may have been tried in vain.
  serve();
}

// Makes the server, now or when it is loaded.
function serve(): void {
  if (server !== undefined || loading) return;
  loading = true;
  // What a worker holds while it lives, where nobody is told of its death.
  endpoint.holdLifeline((settings as HelloSettings).lifeline);
  if (serving.now) return begin(serving.now);
  serving.load().then(begin, lost);
  if (early?.thrown) errors.expect();
  // The server asks for these when it is there: the files come beside it.
  if (answered) expectLater();
}

function begin(part: Pick<typeof import("./server.js"), "Server">): void {
  server = new part.Server(endpoint, names, definitions, settings as HelloSettings, makeReady);
  if (early) server.adopt(early);
  for (const message of waiting) server.receive(message);
  waiting = [];
  if (answered) server.ask();
  else server.prepare();
}

// The server is not to be had, this time: the next who needs it tries again. Who waits for it hears why.
function lost(why: unknown): void {
  loading = false;
  if (early && !early.pending) {
    fail(early.id, early.thrown ? early.thrown.reason : why);
    leave();
  }
  const frames = waiting.flat();
  waiting = [];
  for (let at = 0; at < frames.length; at += frameSlots) {
    if (frames[at] === Op.Call) fail(frames[at + 1] as number, why);
    else isWord(frames.slice(at, at + frameSlots));
  }
}

function fail(id: number, reason: unknown): void {
  endpoint.post([Op.Failure, id, plain(reason), 0], []);
}
