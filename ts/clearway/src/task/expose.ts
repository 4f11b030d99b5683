// SPDX-License-Identifier: MIT OR Apache-2.0
import { parent, partsTravel } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { frameSlots, type HelloSettings, isFrames, Op } from "../transport/protocol.js";
import { expectParts } from "./parts.js";
import { Server } from "./server.js";
import { definitionOfTask, type Exposed, type TaskMap } from "./task.js";

// A module may be imported in a worker that is not Clearway's (a test runner's). There, listening must not keep the
// worker alive for ever; a pool says hello at once, so this is long enough.
const foreignWaitMs = 10_000;

// Without a call, in milliseconds.
const lifelineMs = 10;

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

  let server: Server | undefined;
  const start = (greeting: unknown): void => {
    const settings = greeting as HelloSettings | undefined;
    if (settings?.clearway !== 1) return;
    clearTimeout(foreign);
    server = new Server(endpoint, definitions, settings);
    server.ready(names);
    // Asking for it takes a browser's worker 1.5 ms, which made the first result 1.3 times as late: the first call comes
    // before, within 1 ms, and asks itself when it has left what it could.
    endpoint.holdLifeline(settings.lifeline, lifelineMs);
  };
  endpoint.listen(
    (message) => {
      if (!isFrames(message)) return;
      if (server !== undefined) return server.receive(message);
      if (message[0] === Op.Hello && message.length === frameSlots) start(message[2]);
    },
    () => server?.unreadable(),
  );
  const foreign = endpoint.marked ? undefined : setTimeout(() => endpoint.ignore(), foreignWaitMs);
  if (typeof foreign === "object") (foreign as { unref?(): void }).unref?.();
  start(endpoint.greeting);
  // Behind `Ready`, so that they travel while the caller reads that.
  if (partsTravel) expectParts(definitions);
  return tasks;
}
