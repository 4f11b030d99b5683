// SPDX-License-Identifier: MIT OR Apache-2.0
// Remote pools in both modes over a real NATS server: calls, streams both ways, progress, cancellation and keys, while worker processes are
// killed and the server is restarted, frozen, filled and wiped.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { remotePool } from "clearway-nats";
import { freeze } from "../faults.mjs";
import { NatsServer } from "../nats-server.mjs";
import { check, Wrong } from "../tally.mjs";
import { callOperations, crashed as threadsCrashed } from "./pools.mjs";

const program = fileURLToPath(new URL("./remote-worker.mjs", import.meta.url));

/** The tasks that may run again after a worker process has died. */
export const idempotent = ["add", "bytes", "lengthOf"];

const workerCount = 2;
/** The exit code of a worker process that cannot connect. */
export const serverAway = 3;

/** The errors of a call in request mode whose worker was killed, or whose messages were lost with the server. */
const lost = ["worker-lost", "no-worker", "transport-closed"];
/** The errors of a task whose worker thread another call has ended. */
const crashed = [...threadsCrashed, ...lost];

const requestOperations = (random) => {
  const upTo = (most) => Math.floor(random() * most) + 1;
  return [
    ...callOperations(random, { bytesMax: 2 ** 21, valuesMax: 2000, crashed }),
    {
      name: "call with a key",
      weight: 8,
      expected: crashed,
      run: async ({ work }) => check((await work.with({ key: upTo(8) }).call.add(1, 1)) === 2, "1 + 1 is not 2"),
    },
    { name: "exit of a worker thread", weight: 0.4, expected: crashed, run: ({ work }) => work.call.exit() },
  ];
};

/** A durable call is lost only with its streams, and refused only while there is no room. */
const refused = ["queue-full", "storage-lost"];

const durableOperations = (random) => {
  const upTo = (most) => Math.floor(random() * most) + 1;
  return [
    {
      name: "durable call",
      weight: 10,
      expected: refused,
      run: async ({ durable }) => check((await durable.call.add(2, 3)) === 5, "2 + 3 is not 5"),
    },
    {
      name: "durable call with a key",
      weight: 3,
      expected: refused,
      run: async ({ durable }) => check((await durable.with({ key: upTo(8) }).call.add(1, 1)) === 2, "1 + 1 is not 2"),
    },
    {
      name: "durable call with large values",
      weight: 0.5,
      expected: refused,
      async run({ durable }) {
        const length = 2 ** upTo(20);
        check((await durable.call.bytes(length)).length === length, "a durable result has another length");
      },
    },
    {
      name: "durable call that may run once",
      weight: 2,
      expected: ["RangeError", "interrupted", ...refused, ...crashed],
      async run({ durable }) {
        await durable.call.throws();
        throw new Wrong("the error of a durable task was lost");
      },
    },
  ];
};

const faults = [
  { name: "worker process killed", weight: 0.1, run: ({ workers }) => workers.replace() },
  { name: "worker process frozen", weight: 0.1, run: ({ workers }) => workers.freeze(3000) },
  { name: "server restarted", weight: 0.02, run: ({ server }) => server.restart(100, "SIGTERM") },
  { name: "server killed", weight: 0.02, run: ({ server }) => server.restart(100, "SIGKILL") },
  { name: "streams lost", weight: 0.02, run: ({ server }) => server.restart(100, "SIGKILL", { wipe: true }) },
  { name: "server frozen", weight: 0.02, run: ({ server }) => server.freeze(1_500) },
  { name: "storage filled", weight: 0.02, run: ({ server }) => server.fill(500) },
];

/** The worker processes. */
class Workers {
  #url;
  #children = [];
  #turn = Promise.resolve();
  #closed = false;

  constructor(url) {
    this.#url = url;
  }

  async start() {
    this.#children = await Promise.all(Array.from({ length: workerCount }, () => this.#fork()));
  }

  /** Kills one, and starts another. Replacements wait for each other. */
  replace() {
    this.#turn = this.#turn.then(async () => {
      if (this.#closed) return;
      await end(this.#children.shift());
      this.#children.push(await this.#fork());
    });
    return this.#turn;
  }

  freeze(ms) {
    return freeze(this.#children[0].pid, ms);
  }

  async close() {
    this.#closed = true;
    await this.#turn;
    await Promise.all(this.#children.map(end));
  }

  /** Starts one, again and again while the server is away. */
  async #fork() {
    for (;;) {
      const child = fork(program, [this.#url], { execArgv: [] });
      const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
      const first = await Promise.race([once(child, "message"), ended]);
      if (Array.isArray(first)) return child;
      if (first.code !== serverAway)
        throw new Error(`a worker process ended: code=${first.code} signal=${first.signal}`);
    }
  }
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Opens the part. */
export async function open({ random }) {
  const server = await NatsServer.start();
  const workers = new Workers(server.url);
  await workers.start();
  const common = { servers: server.url, module: "soak", onError() {} };
  const [work, durable] = await Promise.all([remotePool(common), remotePool({ ...common, mode: "durable" })]);
  let closed;
  const close = async () => {
    // Calls that are open finish first, so the server and the workers end last.
    await Promise.all([work.close(), durable.close()]);
    await workers.close();
    await server.close();
  };
  return {
    server,
    workers,
    work,
    durable,
    width: 12,
    renewEach: 1 / 5000,
    closing: ["pool-closed", "pool-terminated"],
    operations: [...requestOperations(random), ...durableOperations(random), ...faults],
    close() {
      closed ??= close();
      return closed;
    },
  };
}
