// SPDX-License-Identifier: MIT OR Apache-2.0
// A NATS server for the part `remote`: on loopback, on a port that stays, with its streams in a folder of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const startMs = 20_000;
const storageBytes = 64 * 2 ** 20;

// Debian installs the server in /usr/sbin, which is not on every user's path.
const program = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]
  .map((folder) => join(folder, "nats-server"))
  .find((path) => existsSync(path));

/** On Linux, this program has the kernel kill the server with its parent, also when the parent is killed. */
const setpriv = "/usr/bin/setpriv";

/** Says what the part needs that is missing, or returns undefined. */
export function natsMissing() {
  return program === undefined ? "nats-server is not installed (scripts/setup.sh nats)" : undefined;
}

export class NatsServer {
  #folder = mkdtempSync(join(tmpdir(), "clearway-soak-nats-"));
  #remove = () => rmSync(this.#folder, { recursive: true, force: true });
  #child;
  #port;
  #turn = Promise.resolve();

  static async start() {
    const server = new NatsServer();
    process.once("exit", server.#remove);
    server.#port = await freePort();
    await server.#start();
    return server;
  }

  get url() {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /**
   * Ends the server with a signal and starts it again, `awayMs` later: with the same streams, or with `wipe` without them. Faults of a server
   * wait for each other.
   */
  restart(awayMs, signal, { wipe = false } = {}) {
    return this.#inTurn(async () => {
      await this.#end(signal);
      if (wipe) rmSync(join(this.#folder, "jetstream"), { recursive: true, force: true });
      await pause(awayMs);
      await this.#start();
    });
  }

  /** Stops the server's process for a time. */
  freeze(ms) {
    return this.#inTurn(async () => {
      this.#child.kill("SIGSTOP");
      await pause(ms);
      this.#child.kill("SIGCONT");
    });
  }

  /** Fills the storage of the server for a time. */
  fill(ms) {
    return this.#inTurn(async () => {
      const connection = await connect({ servers: this.url });
      const { streams } = await jetstreamManager(connection);
      await streams.add({ name: "others", subjects: ["others"] });
      const others = jetstream(connection);
      for (const bytes of [1_000_000, 10_000, 1])
        while (await others.publish("others", new Uint8Array(bytes)).catch(() => undefined));
      await pause(ms);
      await streams.delete("others");
      await connection.close();
    });
  }

  #inTurn(fault) {
    this.#turn = this.#turn.then(() => (this.#child === undefined ? undefined : fault()));
    return this.#turn;
  }

  async close() {
    await this.#turn;
    await this.#end("SIGKILL");
    this.#child = undefined;
    process.off("exit", this.#remove);
    this.#remove();
  }

  async #start() {
    const place = ["-a", "127.0.0.1", "-p", String(this.#port), "--ports_file_dir", this.#folder];
    const config = join(this.#folder, "server.conf");
    writeFileSync(config, `jetstream { store_dir: "${this.#folder}", max_file_store: ${storageBytes} }\n`);
    const command = [program, ...place, "-c", config];
    if (existsSync(setpriv)) command.unshift(setpriv, "--pdeathsig", "KILL");
    this.#child = spawn(command[0], command.slice(1), { stdio: "ignore" });
    // The server writes its ports file when it listens.
    const ports = join(this.#folder, `nats-server_${this.#child.pid}.ports`);
    for (const begin = performance.now(); !isWritten(ports); await pause(5)) {
      if (this.#child.exitCode !== null) throw new Error(`nats-server ended: exit code ${this.#child.exitCode}`);
      if (performance.now() - begin > startMs) throw new Error("nats-server did not start");
    }
  }

  async #end(signal) {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}

function isWritten(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).nats.length > 0;
  } catch {
    return false;
  }
}

// Below the range from which systems take ports for outgoing connections. A client that connects again and again to a port of that range,
// while the server is away, may get the port itself, and would then talk to itself.
const portMin = 20_000;
const portMax = 32_000;

async function freePort() {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin));
    const probe = createServer();
    const free = await new Promise((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
