// SPDX-License-Identifier: MIT OR Apache-2.0
import { parent, partsTravel } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { frameSlots, type HelloSettings, isFrames, Op } from "../transport/protocol.js";
import { type CallFrame, runFirst } from "./first-call.js";
import { Server } from "./server.js";
import { definitionOfTask, type Exposed, type TaskMap } from "./task.js";

// A module may be imported in a worker that is not Clearway's (a test runner's). There, listening must not keep the
// worker alive for ever; a pool says hello at once, so this is long enough.
const foreignWaitMs = 10_000;

// Without a call, in milliseconds.
const idleMs = 10;

let exposed = false;

/**
 * Names the tasks that a pool may call. Export what it returns by default, from the module that the pool is given:
 *
 * ```ts
 * export default expose({ checksum, resize: task(async ({ signal }, image: ImageData) => …) });
 * ```
 *
 * On the main thread, or in a unit test, it does nothing but give the tasks back. Once in a worker; again throws.
 */
export function expose<const Tasks extends TaskMap>(tasks: Tasks): Exposed<Tasks> {
  const names = Object.keys(tasks);
  const definitions = names.map((name) => definitionOfTask(name, tasks[name]));
  const endpoint = parent();
  if (endpoint === undefined) return tasks;
  if (exposed) {
    throw new ClearwayError("invalid-argument", "expose() was called twice in one worker; a module exposes once");
  }
  exposed = true;

  let settings: HelloSettings | undefined;
  let server: Server | undefined;
  /** The call that runs before there is a server. */
  let begun: number[] = [];
  const serve = (): Server => (server ??= new Server(endpoint, names, definitions, settings as HelloSettings));
  const greet = (greeting: unknown): void => {
    const hello = greeting as HelloSettings | undefined;
    if (hello?.clearway !== 1) return;
    settings = hello;
    clearTimeout(foreign);
    endpoint.onEnding(() => (server ? server.ending() : endpoint.post([Op.Ending, 0, begun, 0], [])));
    // By itself: a first call that has come already may take long.
    endpoint.post([Op.Ready, 0, definitions.map(({ kind, placement }, at) => [names[at], kind, placement]), 0], []);
    // In a browser's worker each request takes a part of a millisecond, the lifeline 1.5 ms, which made the first result 1.3
    // times as late: the first call is there before, and asks itself when it has left what it could.
    if (partsTravel) setTimeout(() => serve().prepare(), idleMs);
  };
  endpoint.listen(
    (message) => {
      if (!isFrames(message)) return;
      let frames = message;
      if (frames[0] === Op.Hello) {
        if (settings === undefined) greet(frames[2]);
        frames = frames.slice(frameSlots);
      }
      if (settings === undefined || frames.length === 0) return;
      if (server === undefined && frames.length === frameSlots && frames[0] === Op.Call) {
        begun = [frames[1] as number];
        const first = runFirst(
          frames as CallFrame,
          definitions[names.indexOf(frames[2] as string)],
          settings,
          endpoint,
        );
        if (first === true) return serve().ask();
        if (first) return serve().adopt(first);
      }
      serve().receive(frames);
    },
    () => settings && serve().unreadable(),
  );
  const foreign = endpoint.marked ? undefined : setTimeout(() => endpoint.ignore(), foreignWaitMs);
  if (typeof foreign === "object") (foreign as { unref?(): void }).unref?.();
  greet(endpoint.greeting);
  return tasks;
}
