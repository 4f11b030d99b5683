// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { onTestFinished } from "vitest";

/** Options of {@link startServer}. */
export interface ServerOptions {
  /** The port for clients. Default: the server chooses one. A server that restarts should have one from {@link freePort}. */
  port?: number;
  /** Default true. */
  jetstream?: boolean;
  access?: Access;
  /** Maximum size of a message, in bytes. Default: the server's own, 1 MiB. */
  payloadBytesMax?: number;
  /** Maximum bytes that may wait for a client before the server cuts its connection. Default: the server's own, 64 MiB. */
  pendingBytesMax?: number;
  /** Maximum bytes of streams in files, and of those in memory. Default: more than tests need. */
  storageBytesMax?: number;
  name?: string;
  cluster?: { port: number; routes: readonly number[] };
}

/** A real nats-server. It ends with the test that started it. */
export interface TestServer {
  /** The server's address, such as `nats://127.0.0.1:4222`. It stays the same when the server restarts. */
  readonly url: string;
  readonly port: number;
  readonly name: string;
  /** The clients that are connected, and the number of their subscriptions together. */
  clients(): Promise<{ connections: number; subscriptions: number }>;
  /** Where the server keeps its streams, in the folder `store`. Tests may change files while it does not run. */
  readonly folder: string;
  /** Ends the server at once with SIGKILL, as a crash of its machine does. Settles when the process has ended. */
  kill(): Promise<void>;
  /** Ends the server with SIGTERM. Settles when the process has ended. */
  stop(): Promise<void>;
  /** Starts the server again on the same port and with the same streams, if it has ended. May set the maximum size of a message. */
  start(payloadBytesMax?: number): Promise<void>;
  /** Stops the process of the server for a time, as a frozen machine does. It keeps its connections. */
  freeze(): void;
  /** Lets a frozen server go on. */
  thaw(): void;
  /** Removes the streams of a server that does not run. It then starts with the other options. */
  wipe(options?: Pick<ServerOptions, "jetstream">): void;
  /** Ends the server and removes its folder. */
  close(): Promise<void>;
}

/** Why the tests of a server cannot run here, or undefined. */
export const noServer: string | undefined = ["/usr/sbin/nats-server", "/usr/bin/nats-server"].some(existsSync)
  ? undefined
  : (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, "nats-server")))
    ? undefined
    : "nats-server is not installed";

/**
 * Starts a server and waits until it accepts clients. Reads its port from its ports file.
 *
 * The server ends when the test ends, also if the process of the test is killed (on Linux).
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = await openServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Like {@link startServer}, but for a suite or a benchmark: the caller closes the server. */
export async function openServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = new Server(options);
  try {
    await server.start();
  } catch (reason) {
    await server.close();
    throw reason;
  }
  return server;
}

class Server implements TestServer {
  port: number;
  readonly name: string;
  readonly #config: Omit<ServerConfig, "port">;
  #child: ChildProcess | undefined;
  #monitor = "";
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ServerOptions) {
    this.name = options.name ?? "test";
    this.port = options.port ?? -1;
    this.#config = {
      folder: mkdtempSync(join(tmpdir(), "clearway-nats-")),
      jetstream: options.jetstream ?? true,
      name: this.name,
      access: options.access,
      payloadBytesMax: options.payloadBytesMax,
      pendingBytesMax: options.pendingBytesMax,
      storageBytesMax: options.storageBytesMax,
      cluster: options.cluster,
    };
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get folder(): string {
    return this.#config.folder;
  }

  async start(payloadBytesMax = this.#config.payloadBytesMax): Promise<void> {
    if (this.#child) return;
    this.#config.payloadBytesMax = payloadBytesMax;
    const { folder } = this.#config;
    const file = join(folder, "server.conf");
    writeFileSync(file, configText({ ...this.#config, port: this.port }));
    const child = spawnServer(["-c", file]);
    this.#child = child;
    let log = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-10_000);
    });
    let failed: (reason: Error) => void = () => {};
    this.#ended = new Promise((resolve) => {
      child.once("close", () => {
        if (this.#child === child) this.#child = undefined;
        failed(new Error(`nats-server ended before it was ready:\n${log}`));
        resolve();
      });
      child.once("error", (reason) => {
        failed(reason);
        resolve();
      });
    });
    [this.port, this.#monitor] = await new Promise<[number, string]>((resolve, reject) => {
      failed = reject;
      const ports = join(folder, `nats-server_${child.pid}.ports`);
      const watcher = watch(folder, () => look());
      const look = (): void => {
        const found = portsOf(ports);
        if (found === undefined) return;
        watcher.close();
        resolve(found);
      };
      child.once("close", () => watcher.close());
      look();
    });
  }

  async clients(): Promise<{ connections: number; subscriptions: number }> {
    const answer = await fetch(new URL("connz?subs=1", this.#monitor));
    const { connections } = (await answer.json()) as { connections: { subscriptions: number }[] };
    return {
      connections: connections.length,
      subscriptions: connections.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
    };
  }

  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#ended;
  }

  async stop(): Promise<void> {
    this.#child?.kill("SIGTERM");
    await this.#ended;
  }

  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  wipe({ jetstream = true }: Pick<ServerOptions, "jetstream"> = {}): void {
    rmSync(join(this.folder, "store"), { recursive: true, force: true });
    this.#config.jetstream = jetstream;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#config.folder, { recursive: true, force: true });
  }
}

// Returns the first client port of a ports file, and the address of the monitor. Undefined while the file is missing or incomplete.
function portsOf(file: string): [port: number, monitor: string] | undefined {
  try {
    const { nats, monitoring } = JSON.parse(readFileSync(file, "utf8")) as { nats?: string[]; monitoring?: string[] };
    if (nats?.[0] === undefined || monitoring?.[0] === undefined) return undefined;
    return [Number(new URL(nats[0]).port), monitoring[0]];
  } catch {
    return undefined;
  }
}

const setpriv = "/usr/bin/setpriv";

// Starts nats-server. On Linux, the kernel kills it when the thread that started it ends, even by SIGKILL.
function spawnServer(args: string[]): ChildProcess {
  const program = existsSync("/usr/sbin/nats-server") ? "/usr/sbin/nats-server" : "nats-server";
  const stdio = ["ignore", "ignore", "pipe"] as const;
  return process.platform === "linux" && existsSync(setpriv)
    ? spawn(setpriv, ["--pdeathsig", "KILL", program, ...args], { stdio: [...stdio] })
    : spawn(program, args, { stdio: [...stdio] });
}

// Below the range from which the kernel takes ports for outgoing connections. A client that connects again and again to a port of that
// range, while the server is away, may get the port itself and talk to itself.
const portMin = 20_000;
const portMax = 32_000;

/** Returns a port that is free now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin));
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

/** A user of a test server: a token for everybody, or NKEY users with their permissions. */
export type Access =
  | { token: string }
  | { users: readonly { nkey: string; publish?: readonly string[]; subscribe?: readonly string[] }[] };

/** The settings of one nats-server of a test. */
export interface ServerConfig {
  /** The port for clients. -1 lets the server choose one. */
  port: number;
  /** The server's folder: its ports file, its configuration and its streams. */
  folder: string;
  /** Whether the server has JetStream. */
  jetstream: boolean;
  /** Name of the server. Servers of a cluster need different names. */
  name: string;
  access: Access | undefined;
  /** Maximum size of a message, in bytes. */
  payloadBytesMax: number | undefined;
  /** Maximum bytes that may wait for a client. The server cuts the connection of a client that is slower. */
  pendingBytesMax: number | undefined;
  /** Maximum bytes of streams in files, and of those in memory. Default: 4 GB and 1 GB. */
  storageBytesMax: number | undefined;
  cluster: { port: number; routes: readonly number[] } | undefined;
}

const quoted = (text: string): string => JSON.stringify(text);
const list = (texts: readonly string[]): string => `[${texts.map(quoted).join(", ")}]`;

/** Returns the text of a configuration file for nats-server. */
export function configText(config: ServerConfig): string {
  const { port, folder, name, access, payloadBytesMax, pendingBytesMax, cluster } = config;
  const lines = [
    `server_name: ${quoted(name)}`,
    `host: "127.0.0.1"`,
    `port: ${port}`,
    `ports_file_dir: ${quoted(folder)}`,
    `http: "127.0.0.1:-1"`,
  ];
  if (payloadBytesMax !== undefined) lines.push(`max_payload: ${payloadBytesMax}`);
  if (pendingBytesMax !== undefined) lines.push(`max_pending: ${pendingBytesMax}`);
  if (config.jetstream) {
    const [memory, file] = [config.storageBytesMax ?? "1G", config.storageBytesMax ?? "4G"];
    lines.push(
      "jetstream {",
      `  store_dir: ${quoted(`${folder}/store`)}`,
      `  max_mem: ${memory}`,
      `  max_file: ${file}`,
      "}",
    );
  }
  if (cluster) {
    const routes = cluster.routes.map((each) => `nats://127.0.0.1:${each}`);
    lines.push("cluster {", '  name: "test"', '  host: "127.0.0.1"', `  port: ${cluster.port}`);
    lines.push(`  routes: ${list(routes)}`, "}");
  }
  if (access) lines.push("authorization {", ...accessLines(access), "}");
  return `${lines.join("\n")}\n`;
}

function accessLines(access: Access): string[] {
  if ("token" in access) return [`  token: ${quoted(access.token)}`];
  return [
    "  users: [",
    ...access.users.map(({ nkey, publish, subscribe }) => {
      const rights: string[] = [];
      if (publish) rights.push(`publish: ${list(publish)}`);
      if (subscribe) rights.push(`subscribe: ${list(subscribe)}`);
      return `    { nkey: ${quoted(nkey)}${rights.length > 0 ? `, permissions: { ${rights.join(", ")} }` : ""} }`;
    }),
    "  ]",
  ];
}

/** Three servers that replicate streams. They end with their test. */
export interface TestCluster {
  readonly servers: readonly TestServer[];
  readonly urls: string[];
  /** The member that leads a stream. */
  leaderOf(stream: string): Promise<TestServer>;
}

/** Starts a cluster of three servers and waits until it stores a stream three times. */
export async function startCluster(): Promise<TestCluster> {
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = await Promise.all(
    routes.map(async (port, index) =>
      startServer({ port: await freePort(), name: `n${index}`, cluster: { port, routes } }),
    ),
  );
  const urls = servers.map(({ url }) => url);
  const connection = await connect({ servers: urls });
  onTestFinished(() => connection.close());
  for (;;) {
    try {
      const manager = await jetstreamManager(connection, { timeout: 2_000 });
      await manager.streams.add({ name: "probe", subjects: ["probe"], num_replicas: 3 });
      await manager.streams.delete("probe");
      break;
    } catch {
      // The members have not found one another, or have no leader yet. Nothing announces it.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return {
    servers,
    urls,
    async leaderOf(stream) {
      const manager = await jetstreamManager(connection);
      const { cluster } = await manager.streams.info(stream);
      const leader = servers.find(({ name }) => name === cluster?.leader);
      if (!leader) throw new Error(`the stream ${stream} has no leader`);
      return leader;
    },
  };
}
