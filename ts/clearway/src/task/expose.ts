// SPDX-License-Identifier: MIT OR Apache-2.0

import { parent } from "#host";
import { checked, object } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";
import { clearTimeout, clock, queueMicrotask, setTimeout, type Timer, unref } from "../globals.js";
import { cloneMsMax, inDevelopment, type ParentEndpoint, type ParentListener } from "../host/host.js";
import { calledByLanguage } from "../pool/by-name.js";
import { encodeThrown } from "../transfer/thrown.js";
import { mayBeSlow } from "../transfer/uncloneable.js";
import { coded, frameSlots, type HelloSettings, isFrames, Op } from "../transport/protocol.js";
import { Server } from "./server.js";
import {
  type Combined,
  type CombinedData,
  definitionOfTask,
  type Exposed,
  type ExposeOptions,
  type TaskDefinition,
  type TaskMap,
} from "./task.js";

// Number of calls whose tasks are known. A result is posted soon after its call has come.
const callsMax = 1_000;

/**
 * Returns an endpoint that measures how long each post takes. `slow` receives the task whose result took too long to copy, and the time.
 * Only this thread can measure that: Node copies a message on the other side before the message arrives.
 */
export function watched(
  endpoint: ParentEndpoint,
  slow: (task: string, ms: number) => void,
  readClock = clock,
): ParentEndpoint {
  const tasks = new Map<unknown, string>();
  return {
    ...endpoint,
    called: (id, task) => {
      if (tasks.size >= callsMax) tasks.clear();
      tasks.set(id, task);
    },
    post: (message, transfer) => {
      const startMs = readClock();
      endpoint.post(message, transfer);
      const ms = readClock() - startMs;
      if (ms <= cloneMsMax) return;
      const frames = message as unknown[];
      for (let at = 0; at < frames.length; at += frameSlots) {
        const task = tasks.get(frames[at + 1]);
        // Several objects in one message are rare, because results of more than 1 ms are sent at once.
        const op = (frames[at] as number) & ~coded;
        if ((op === Op.Result || op === Op.Chunk) && task && mayBeSlow(frames[at + 2])) return slow(task, ms);
      }
    },
  };
}

// Time in milliseconds after which the listener stops in a worker that is not Clearway's. A test runner's worker, for example, may import a
// task module. There, the listener must not keep the worker alive for ever. The time is long enough, because a pool sends its hello at
// once.
const foreignWaitMs = 10_000;

/** The tasks of a module, and its `setup`. */
interface TaskModule {
  readonly names: readonly string[];
  readonly definitions: readonly TaskDefinition[];
  readonly setup: ((data: unknown) => unknown) | undefined;
}

/** The start of a worker: greets the pool once the task module has run, runs `setup`, and then makes the server, which has all messages. */
export class Bootstrap implements ParentListener {
  #endpoint!: ParentEndpoint;
  /** The modules that were exposed and are not a part of another one. The worker needs exactly one. */
  #modules: TaskModule[] = [];
  /** Whether the worker still waits for the rest of its module, which may expose this module together with others. */
  #loadingModule = false;
  #foreignTimer: Timer | undefined;
  #greeted = false;
  #server: Server | undefined;
  /** Messages that arrived while `setup` ran. */
  #waiting: (readonly unknown[])[] = [];

  /**
   * Takes the module of the worker. A further call replaces the modules in `parts` by one that contains them. Throws `invalid-argument` if the
   * worker has greeted already.
   */
  receive(from: ParentEndpoint, module: TaskModule, parts: readonly TaskModule[]): void {
    const first = this.#modules.length === 0;
    if (!first && !this.#loadingModule) throw exposedTwice(", after its start");
    this.#modules = [...this.#modules.filter((each) => !parts.includes(each)), module];
    if (!first) return;
    this.#endpoint = from;
    this.#loadingModule = true;
    from.listen(this);
    if (from.marked) {
      // The module may end its worker before the worker reads the pool's hello.
      from.onEnding(() => this.#ending());
      // The module may import several task modules, each of which exposes its tasks.
      return queueMicrotask(() => this.#greetMarked());
    }
    this.#foreignTimer = setTimeout(from.ignore, foreignWaitMs);
    unref(this.#foreignTimer);
  }

  #greetMarked(): void {
    if (this.#loadingModule) this.#greet(this.#endpoint.greeting);
  }

  #greet(greeting: unknown): void {
    const hello = greeting as HelloSettings | undefined;
    if (hello?.clearway !== 1) return;
    if (this.#modules.length > 1) throw exposedTwice("");
    this.#loadingModule = false;
    this.#greeted = true;
    if (this.#foreignTimer !== undefined) clearTimeout(this.#foreignTimer);
    if (!this.#endpoint.marked) this.#endpoint.onEnding(() => this.#ending());
    const module = this.#modules[0]!;
    if (module.setup !== undefined || hello.setup !== undefined) void this.#setUp(hello, module);
    else this.#ready(hello, module);
  }

  // Runs the module's `setup`. The pool ends a worker whose `setup` fails.
  async #setUp(hello: HelloSettings, module: TaskModule): Promise<void> {
    this.#endpoint.holdLifeline(hello.lifeline);
    try {
      // The rest of the module runs first, because `setup` may use what it declares.
      await undefined;
      if (module.setup === undefined)
        throw new Error("the pool has the option `setup`, but the module passes none to expose()");
      await module.setup(hello.setup);
    } catch (reason) {
      return this.#endpoint.post([Op.SetupFailed, 0, encodeThrown(reason), 0], []);
    }
    const server = this.#ready(hello, module);
    for (const frames of this.#waiting.splice(0)) server.receive(frames);
  }

  #ready(hello: HelloSettings, { names, definitions, setup }: TaskModule): Server {
    if (hello.warnings ?? inDevelopment()) {
      const slow = (task: string, ms: number): void => this.#server?.slow(task, ms);
      this.#endpoint = watched(this.#endpoint, slow);
    }
    const tasks = names.map((name, at) => {
      const { kind, placement } = definitions[at]!;
      return [name, kind, setup ? "worker" : placement];
    });
    // Sends `Ready` at once, in its own message. A first call that has already arrived may take long.
    this.#endpoint.post([Op.Ready, 0, tasks, 0], []);
    const server = new Server(this.#endpoint, names, definitions, hello);
    this.#server = server;
    this.message = server.onMessage;
    return server;
  }

  #ending(): void {
    this.#greetMarked();
    if (this.#server) this.#server.ending();
    else this.#endpoint.post([Op.Ending, 0, [], 0], []);
  }

  /** Handles a message that could not be read. */
  unreadable(): void {
    if (this.#server) this.#server.unreadable();
    else if (this.#greeted) this.#endpoint.post([Op.Unreadable, 0, 0, 0], []);
  }

  /** Handles a message until there is a server, which then takes the place of this function. */
  message(message: unknown): void {
    if (!isFrames(message)) return;
    let frames = message;
    if (frames[0] === Op.Hello) {
      if (!this.#greeted) this.#greet(frames[2]);
      frames = frames.slice(frameSlots);
    }
    if (!this.#greeted || frames.length === 0) return;
    // The greeting may have made the server.
    const server = this.#server as Server | undefined;
    if (server) server.receive(frames);
    else this.#waiting.push(frames);
  }
}

function exposedTwice(how: string): ClearwayError {
  return new ClearwayError(
    "invalid-argument",
    `expose() was called twice in one worker${how}: to run several task modules in one pool, combine them with exposeAll()`,
  );
}

/** The modules by what `expose()` and `exposeAll()` have returned. */
const modules = new WeakMap<object, TaskModule>();
const start = /* @__PURE__ */ new Bootstrap();

/**
 * Exposes the tasks that a pool may call. Export the result as the default export of the task module:
 *
 * ```ts
 * export default expose({ checksum, resize: task(async ({ signal }, image: ImageData) => …) });
 * ```
 *
 * On the main thread and in a unit test, it only returns the tasks. In a worker, it may be called once, and in each task module that
 * {@link exposeAll} combines.
 *
 * With the option `setup`, each worker prepares itself before its first call. Throws `invalid-argument` for an invalid task or option, and for a
 * task called `then`, `toJSON`, `toString` or `valueOf`.
 *
 * @typeParam Tasks - The tasks by name: functions, or results of `task()`.
 * @typeParam Data - The parameter of `setup`.
 */
export function expose<const Tasks extends TaskMap, Data = undefined>(
  tasks: Tasks,
  options?: ExposeOptions<Data>,
): Exposed<Tasks, Data> {
  const names = Object.keys(object("tasks", tasks));
  // The prototype of a plain object, of any realm, has none itself. The methods of a class are not the object's own, so they would be lost.
  const prototype = Object.getPrototypeOf(tasks);
  if (prototype && Object.getPrototypeOf(prototype))
    throw invalid("tasks", "an object of functions, and not of a class", tasks);
  const definitions = [];
  for (const name of names) {
    if (calledByLanguage.includes(name))
      throw invalid("the name of a task", "another one, because JavaScript itself calls this", name);
    definitions.push(definitionOfTask(name, tasks[name]));
  }
  const setup = options && checked(options, { setup: "function" }).setup;
  return publish(tasks, { names, definitions, setup: setup as TaskModule["setup"] });
}

/**
 * Exposes the tasks of several task modules, so that one pool runs them:
 *
 * ```ts
 * import images from "./images.tasks.js";
 * import text from "./text.tasks.js";
 *
 * export default exposeAll({ images, text }); // the caller: pool.call["images.resize"](photo)
 * ```
 *
 * The name of a task begins with the name of its module and a dot. Tasks keep their options and resources. If modules have a `setup`, the
 * pool's option `setup` is an object with the data for each of these modules, by name; they run one after the other.
 *
 * Throws `invalid-argument` if a value is not the default export of a task module, or if two tasks get the same name.
 *
 * @typeParam Modules - The default exports of the task modules, by name.
 */
export function exposeAll<const Modules extends Readonly<Record<string, TaskMap>>>(
  all: Modules,
): Exposed<Combined<Modules>, CombinedData<Modules>> {
  const tasks: Record<string, unknown> = {};
  const definitions = [];
  const parts = new Map<string, TaskModule>();
  const owners = new Map<string, string>();
  for (const [name, each] of Object.entries(object("modules", all))) {
    const part = modules.get(Object(each));
    if (!part)
      throw invalid(`modules.${name}`, "the default export of a task module, which expose() has returned", each);
    parts.set(name, part);
    for (const [at, task] of part.names.entries()) {
      const full = `${name}.${task}`;
      const owner = `"${task}" of the module "${name}"`;
      const other = owners.get(full);
      if (other)
        throw new ClearwayError("invalid-argument", `two tasks have the name "${full}": ${other}, and ${owner}`);
      owners.set(full, owner);
      tasks[full] = each[task];
      definitions.push(part.definitions[at]!);
    }
  }
  const names = Object.keys(tasks);
  const setups = [...parts].filter(([, { setup }]) => setup);
  const setup = async (data: unknown = {}): Promise<void> => {
    checked(
      object("setup", data),
      Object.fromEntries(setups.map(([name]) => [name, () => true as const])),
      {},
      "setup",
    );
    for (const [name, each] of setups) await each.setup?.((data as Record<string, unknown>)[name]);
  };
  const combined = { names, definitions, setup: setups.length > 0 ? setup : undefined };
  return publish(tasks, combined, [...parts.values()]) as Exposed<Combined<Modules>, CombinedData<Modules>>;
}

// Records a module. In a worker, makes it the worker's module.
function publish<Tasks extends object>(tasks: Tasks, module: TaskModule, parts: TaskModule[] = []): Tasks {
  modules.set(tasks, module);
  const endpoint = parent();
  if (endpoint) start.receive(endpoint, module, parts);
  return tasks;
}
