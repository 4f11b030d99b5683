// SPDX-License-Identifier: MIT OR Apache-2.0
import { EventEmitter } from "node:events";
import type { ElectronPort } from "../../src/electron/transport.js";

// Copies of Electron's ports, made from its documentation and its source (lib/browser/message-port-main.ts): Electron itself cannot run
// in these tests. A message is an event with `data` and `ports`. Messages wait until `start()`. Memory is cloned. Electron throws if a
// transfer list contains anything but ports, and a renderer's message that moves memory arrives as `null`.

interface Side {
  receive(data: unknown): void;
  closed(): void;
}

/** Electron's port in the main process: an emitter of events. */
export class FakePortMain extends EventEmitter implements ElectronPort, Side {
  other: Side | undefined;
  closes = 0;
  #started = false;
  #open = true;
  #waiting: unknown[] = [];

  postMessage(message: unknown, transfer?: unknown): void {
    if (transfer !== undefined && !(Array.isArray(transfer) && transfer.length === 0))
      throw new TypeError("Invalid value for transfer");
    const data = structuredClone(message);
    if (this.#open) setImmediate(() => this.other?.receive(data));
  }

  start(): void {
    this.#started = true;
    setImmediate(() => {
      for (const data of this.#waiting.splice(0)) this.receive(data);
    });
  }

  close(): void {
    this.closes++;
    if (!this.#open) return;
    this.#open = false;
    setImmediate(() => this.other?.closed());
  }

  receive(data: unknown): void {
    if (!this.#open) return;
    if (this.#started) this.emit("message", { data, ports: [] });
    else this.#waiting.push(data);
  }

  closed(): void {
    if (this.#open) this.emit("close");
    this.#open = false;
  }
}

/** A renderer's port: a target of DOM events. */
export class FakePortRenderer extends EventTarget implements ElectronPort, Side {
  other: Side | undefined;
  #started = false;
  #open = true;
  #waiting: unknown[] = [];

  postMessage(message: unknown, transfer: ArrayBuffer[] = []): void {
    const data = structuredClone(message, { transfer });
    const arrives = transfer.length > 0 ? null : data;
    if (this.#open) setImmediate(() => this.other?.receive(arrives));
  }

  start(): void {
    this.#started = true;
    setImmediate(() => {
      for (const data of this.#waiting.splice(0)) this.receive(data);
    });
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    setImmediate(() => this.other?.closed());
  }

  receive(data: unknown): void {
    if (!this.#open) return;
    if (this.#started) this.dispatchEvent(new MessageEvent("message", { data }));
    else this.#waiting.push(data);
  }

  closed(): void {
    if (this.#open) this.dispatchEvent(new Event("close"));
    this.#open = false;
  }
}

/** Connects two sides of the main process or of renderers. */
export function pair<A extends FakePortMain | FakePortRenderer, B extends FakePortMain | FakePortRenderer>(
  a: A,
  b: B,
): [A, B] {
  a.other = b;
  b.other = a;
  return [a, b];
}
