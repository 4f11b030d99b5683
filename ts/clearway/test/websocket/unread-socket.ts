// SPDX-License-Identifier: MIT OR Apache-2.0
import { subprotocol } from "../../src/websocket/socket.js";

/** An open socket whose other end sends what the test says, and reads nothing before that. */
export class Unread {
  binaryType = "";
  readonly protocol = subprotocol;
  readonly readyState = 1;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  closes = 0;
  readonly #listeners = new Map<string, (event: object) => void>();

  addEventListener(type: string, listener: (event: object) => void): void {
    this.#listeners.set(type, listener);
  }
  removeEventListener(): void {}
  close(): void {
    this.closes++;
  }
  send(message: string | Uint8Array): void {
    this.bufferedAmount += message.length;
    if (typeof message === "string") this.sent.push(message);
  }
  arrives(data: unknown): void {
    this.#listeners.get("message")?.({ data });
  }
}
