// SPDX-License-Identifier: MIT OR Apache-2.0
// Channels to a worker, to a child process and over a WebSocket: calls, errors, cancellation and events, while workers and processes are
// killed, connections are cut, and readers are slow or leave.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, connect as dial } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { connect, latest, portTransport } from "clearway/channel";
import { childTransport } from "clearway/channel/stdio";
import { webSocketTransport } from "clearway/channel/websocket";
import { serveWebSockets } from "clearway/channel/websocket-server";
import { WebSocket } from "ws";
import { freeze, readTwice } from "../faults.mjs";
import { check, Wrong } from "../tally.mjs";
import { channelsEach, serve } from "./peer.mjs";

const program = fileURLToPath(new URL("./peer.mjs", import.meta.url));

/** Each carrier opens an end with `endpoint`, `cut()` that breaks the connection without a word, and `close()`. A process has a `pid`. */
const carriers = {
  async worker() {
    const worker = new Worker(program);
    const ended = once(worker, "exit");
    const endpoint = await connect(portTransport(worker));
    const close = async () => {
      await endpoint.close();
      await worker.terminate();
      await ended;
    };
    return { endpoint, cut: () => void worker.terminate(), close };
  },

  async child() {
    const child = spawn(process.execPath, [program, "child"], { stdio: ["pipe", "pipe", "ignore"] });
    const ended = once(child, "close");
    const endpoint = await connect(childTransport(child));
    const close = async () => {
      await endpoint.close();
      child.kill("SIGKILL");
      await ended;
    };
    return { endpoint, pid: child.pid, cut: () => void child.kill("SIGKILL"), close };
  },

  async webSocket() {
    const server = await serveWebSockets({ port: 0 }, async (transport) => serve(await connect(transport)));
    const cable = await cableTo(Number(new URL(server.url).port));
    const url = new URL(server.url);
    url.port = String(cable.port);
    const endpoint = await connect(webSocketTransport(url.href, { token: server.token ?? "", WebSocket }));
    const close = async () => {
      await endpoint.close();
      cable.close();
      await server.close();
    };
    return { endpoint, cut: cable.cut, close };
  },
};

/** Forwards connections to a port of this machine. `cut` destroys those that are open. */
async function cableTo(port) {
  const sockets = new Set();
  const keep = (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((socket) => {
    const onward = keep(dial(port, "127.0.0.1"));
    keep(socket).pipe(onward).pipe(socket);
    socket.once("close", () => onward.destroy());
    onward.once("close", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: server.address().port,
    cut,
    close() {
      cut();
      server.close();
    },
  };
}

const names = Object.keys(carriers);

const gone = ["transport-closed"];

/** Returns the operations. Each chooses a carrier by `random`. */
const operations = (random) => {
  const upTo = (most) => Math.floor(random() * most) + 1;
  const bytes = () => 2 ** Math.floor(random() * 19);
  const methods = async ({ lines }) => (await lines.any()).endpoint.methods("soak");
  const events = async ({ lines }, name) => (await lines.any()).endpoint.events(`${name}/${upTo(channelsEach)}`);
  return [
    {
      name: "call",
      weight: 40,
      expected: gone,
      async run(part) {
        const value = { n: upTo(1e6), text: "ä".repeat(upTo(50)), list: [1.5, null, true] };
        const same = await (await methods(part)).call("same", value);
        check(JSON.stringify(same) === JSON.stringify(value), "an answer is another value than its argument");
      },
    },
    {
      name: "large call",
      weight: 10,
      expected: gone,
      async run(part) {
        const length = bytes();
        const same = await (await methods(part)).call("same", new Uint8Array(length).fill(9));
        check(same.length === length && same[length - 1] === 9, `an answer of ${length} bytes is damaged`);
      },
    },
    {
      name: "method that throws",
      weight: 4,
      expected: ["RangeError", "remote-error", "failed", "error", "thrown", ...gone],
      async run(part) {
        await (await methods(part)).call("throws", null);
        throw new Wrong("the error of a method was lost");
      },
    },
    {
      name: "cancelled call",
      weight: 4,
      expected: ["AbortError", 20, ...gone],
      async run(part) {
        const controller = new AbortController();
        const call = (await methods(part)).call("hold", null, { signal: controller.signal });
        setTimeout(() => controller.abort(), upTo(20));
        await call;
        throw new Wrong("a cancelled call has a result");
      },
    },
    {
      name: "call with a deadline",
      weight: 3,
      expected: ["deadline", ...gone],
      run: async (part) => (await methods(part)).call("hold", null, { deadlineMs: upTo(20) }),
    },
    {
      name: "events",
      weight: 6,
      expected: ["cancelled", ...gone],
      async run(part) {
        const count = upTo(500);
        let next = 0;
        const numbers = (await events(part, "soak/numbers")).listen(count);
        for await (const value of numbers) check(value === next++, `event ${value} instead of ${next - 1}`);
        check(next === count, `a stream ended after ${next} of ${count} events`);
      },
    },
    {
      name: "events with two readers",
      weight: 2,
      expected: ["cancelled", ...gone],
      async run(part) {
        const count = upTo(200);
        const numbers = (await events(part, "soak/numbers")).listen(count);
        const read = await readTwice(numbers);
        check(read === count, `two readers have read ${read} of ${count} events`);
      },
    },
    {
      name: "slow reader that leaves",
      weight: 2,
      expected: ["cancelled", ...gone],
      async run(part) {
        let left = upTo(8);
        const policy = random() < 0.5 ? latest() : {};
        const chunks = (await events(part, "soak/chunks")).listen(65_536, policy);
        for await (const chunk of chunks) {
          check(chunk.length === 65_536, "a chunk has another length");
          if (left-- === 0) break;
          await pause(upTo(10));
        }
      },
    },
    {
      name: "replaced globals",
      weight: 0.4,
      expected: gone,
      run: async (part) => (await methods(part)).call("replaces", null),
    },
    {
      name: "frozen process",
      weight: 0.4,
      run: ({ lines }) => lines.freeze(upTo(500), random() < 0.5),
    },
    {
      name: "cut",
      weight: 0.5,
      run: ({ lines }) => lines.cut(),
    },
  ];
};

/** One open line for each carrier. A line that was cut is replaced at once. */
class Lines {
  #random;
  #tally;
  /** A promise of each line, by its carrier. */
  #open = new Map();
  #closed = false;

  constructor(random, tally) {
    this.#random = random;
    this.#tally = tally;
    for (const [name, open] of Object.entries(carriers)) this.#open.set(name, open());
  }

  /** Resolves when all lines are open. */
  opened() {
    return Promise.all(this.#open.values());
  }

  #name() {
    return names[Math.floor(this.#random() * names.length)];
  }

  /** Returns a promise of one of the lines. */
  any() {
    return this.#open.get(this.#name());
  }

  /** Freezes the child process for `ms` milliseconds. Then it goes on, or its line is cut. */
  async freeze(ms, isCut) {
    const { pid } = await this.#open.get("child");
    await freeze(pid, ms, isCut ? "SIGKILL" : "SIGCONT");
    if (isCut) await this.cut("child");
  }

  /** Cuts a line, waits until its endpoint has closed, and opens another one. Does nothing after `close`: an operation may outlast its part. */
  async cut(name = this.#name()) {
    if (this.#closed) return;
    const cutting = this.#open.get(name).then(async (line) => {
      line.cut();
      const { code } = await line.endpoint.closed;
      if (code !== "lost" && code !== "closed") this.#tally.unexpected(`${name}: a cut line has closed with ${code}`);
      await line.close();
      return carriers[name]();
    });
    this.#open.set(name, cutting);
    await cutting;
  }

  async close() {
    this.#closed = true;
    for (const line of await this.opened()) await line.close();
  }
}

/** Opens the part. */
export async function open({ random, tally }) {
  const lines = new Lines(random, tally);
  await lines.opened();
  return {
    lines,
    width: 12,
    renewEach: 1 / 5000,
    closing: gone,
    operations: operations(random),
    close: () => lines.close(),
  };
}
