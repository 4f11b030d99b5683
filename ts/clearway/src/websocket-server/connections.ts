// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WebSocket } from "ws";
import type { CloseReason } from "../channel/transport/transport.js";
import type { SocketTransport } from "../websocket/socket-transport.js";

interface Connection {
  readonly transport: SocketTransport;
  /** Whether anything came since the last look. */
  alive: boolean;
}

// Where more waits to leave, the last ping's answer would come too late to say anything.
const pongBytesMax = 1 << 20;

/** The connections that are open. Looks after them: one that is gone without a word is noticed by its silence. */
export class Connections {
  readonly #open = new Map<WebSocket, Connection>();
  readonly #pingMs: number;
  #timer: ReturnType<typeof setInterval> | undefined;
  #emptied: (() => void)[] = [];

  constructor(pingMs: number) {
    this.#pingMs = pingMs;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: WebSocket, transport: SocketTransport): void {
    const connection = { transport, alive: true };
    const alive = (): void => {
      connection.alive = true;
    };
    this.#open.set(socket, connection);
    this.#timer ??= setInterval(() => this.#look(), this.#pingMs);
    socket.on("pong", alive);
    socket.on("message", alive);
    // Not by `ws` itself: a client that pings and never reads would make the answers pile up.
    socket.on("ping", (data) => {
      alive();
      if (socket.readyState === socket.OPEN && socket.bufferedAmount < pongBytesMax) socket.pong(data);
    });
    socket.on("close", () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      for (const each of this.#emptied.splice(0)) each();
    });
  }

  /** Closes them all. Settles when none is left. */
  async close(reason: CloseReason): Promise<void> {
    if (this.#open.size === 0) return;
    const emptied = new Promise<void>((resolve) => this.#emptied.push(resolve));
    for (const { transport } of this.#open.values()) transport.close(reason);
    await emptied;
  }

  #look(): void {
    for (const [socket, connection] of this.#open) {
      if (connection.alive) this.#ask(socket, connection);
      // A thread that was held up has not read what came meanwhile: that is read first.
      else setImmediate(() => this.#judge(socket, connection));
    }
  }

  #judge(socket: WebSocket, connection: Connection): void {
    // A socket that is paused reads no pong, either; nobody has opened its transport yet.
    if (connection.alive || socket.isPaused) return this.#ask(socket, connection);
    connection.transport.abort({ code: "timeout", message: `no answer to a ping within ${this.#pingMs} ms` });
  }

  #ask(socket: WebSocket, connection: Connection): void {
    connection.alive = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }
}
