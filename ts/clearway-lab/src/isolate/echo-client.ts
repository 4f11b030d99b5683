// SPDX-License-Identifier: MIT OR Apache-2.0
// A connection to the fixture's TCP server, Node only. It sends one number at a time. The server answers with that number plus one.
import net from "node:net";

export class EchoConnection {
  readonly #socket: net.Socket;
  #resolve: ((value: number) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setEncoding("utf8");
    socket.setNoDelay(true);
    socket.on("data", (text) => this.#resolve?.(Number(text)));
    socket.on("error", (error) => this.#reject?.(error));
    socket.on("close", () => this.#reject?.(new Error("the server closed the connection")));
    // An open connection must not keep a worker alive.
    socket.unref();
  }

  static open(port: number): Promise<EchoConnection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: "127.0.0.1" });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new EchoConnection(socket));
      });
    });
  }

  ask(value: number): Promise<number> {
    this.#socket.ref();
    return new Promise<number>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(value + "\n");
    }).finally(() => this.#socket.unref());
  }

  get open(): boolean {
    return !this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }
}
