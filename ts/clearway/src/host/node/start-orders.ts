// SPDX-License-Identifier: MIT OR Apache-2.0
// What a pool tells the file `start.mjs`, with which it starts a worker that needs a loader for TypeScript. Sent as environment data of
// `worker_threads`, because `workerData` may belong to the app.

/** Key of the environment data. */
export const ordersKey = "clearway:start";

/**
 * What loads TypeScript in the thread that starts the worker.
 *
 * - `tsx` and `ts-node` run the app. In many versions of Node, they do not register themselves in workers.
 * - `runner`: a test runner transforms the app's modules itself, in its own threads only.
 * - `inherited`: the worker has what it needs already: Node's own type stripping, or a loader among its command line options.
 */
export type Loader = "tsx" | "ts-node" | "runner" | "inherited";

export interface StartOrders {
  /** URL of the task module. */
  readonly url: string;
  readonly loader: Loader;
  /** Whether a transformer of the app's node_modules may compile the module if no loader does. */
  readonly mayTransform: boolean;
}

const tsNodeInstance = Symbol.for("ts-node.register.instance");

/** Returns whether ts-node is registered in this thread, with the command `ts-node` or by the app. */
export const hasTsNode = (): boolean => (process as unknown as Record<symbol, unknown>)[tsNodeInstance] !== undefined;

/** Returns whether a command line contains the package of this name, as a name or in a path. */
export const names = (commandLine: string, name: string): boolean =>
  new RegExp(`(^|[\\\\/=\\s"'@])${name}([\\\\/\\s"']|$)`).test(commandLine);
