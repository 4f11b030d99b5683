// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { clearTimeout, queueMicrotask, setTimeout, type Timer, unref } from "../globals.js";
import { inDevelopment } from "../host/development.js";
import type { ParentEndpoint } from "../host/host.js";
import { encodeThrown } from "../transfer/thrown.js";
import { frameSlots, type HelloSettings, isFrames, Op } from "../transport/protocol.js";
import { Server } from "./server.js";
import type { TaskDefinition } from "./task.js";
import { watched } from "./watched-endpoint.js";

// Time in milliseconds after which the listener stops in a worker that is not Clearway's. A test runner's worker, for example, may import a
// task module. There, the listener must not keep the worker alive for ever. The time is long enough, because a pool sends its hello at
// once.
const foreignWaitMs = 10_000;

/** The tasks of a module, and its `setup`. */
export interface TaskModule {
  readonly names: readonly string[];
  readonly definitions: readonly TaskDefinition[];
  readonly setup: ((data: unknown) => unknown) | undefined;
}

/** The start of a worker: greets the pool once the task module has run, runs `setup`, and then makes the server, which has all messages. */
export class Bootstrap {
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
    from.listen(
      (message) => this.#message(message),
      () => this.#unreadable(),
    );
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
    this.#server = new Server(this.#endpoint, names, definitions, hello);
    return this.#server;
  }

  #ending(): void {
    this.#greetMarked();
    if (this.#server) this.#server.ending();
    else this.#endpoint.post([Op.Ending, 0, [], 0], []);
  }

  #unreadable(): void {
    if (this.#server) this.#server.unreadable();
    else if (this.#greeted) this.#endpoint.post([Op.Unreadable, 0, 0, 0], []);
  }

  #message(message: unknown): void {
    if (this.#server) return void (isFrames(message) && this.#server.receive(message));
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
