// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ExtensionPort } from "../../src/browser/extension.js";

// A faithful copy of `chrome.runtime.Port`, as far as the transport can see it: messages cross as JSON, in order and later; a message
// without a listener is dropped; a message of 64 MiB or more is refused; a disconnected port throws; only the other end hears of a
// disconnection. `extension.node.test.ts` runs the same transport in an extension in Chromium.

class FakeEvent<Value> {
  readonly #listeners = new Set<(value: never) => void>();

  addListener(listener: (value: never) => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: (value: never) => void): void {
    this.#listeners.delete(listener);
  }

  emit(value: Value): void {
    for (const listener of [...this.#listeners]) (listener as (value: Value) => void)(value);
  }
}

export class FakePort implements ExtensionPort {
  readonly onMessage = new FakeEvent<unknown>();
  readonly onDisconnect = new FakeEvent<FakePort>();
  readonly posted: string[] = [];
  other: FakePort | undefined;
  error: { message: string } | undefined;
  #connected = true;

  postMessage(message: unknown): void {
    if (!this.#connected) throw new Error("Attempting to use a disconnected port object");
    const text = JSON.stringify(message);
    if (text === undefined) throw new Error("Could not serialize message.");
    if (text.length >= 64 << 20) throw new Error("Message exceeded maximum allowed size of 64MiB.");
    this.posted.push(text);
    const { other } = this;
    setTimeout(() => other?.arrive(JSON.parse(text)));
  }

  /** Delivers a message as if the other end had posted it. */
  arrive(message: unknown): void {
    if (this.#connected) this.onMessage.emit(message);
  }

  disconnect(): void {
    if (!this.#connected) return;
    this.#connected = false;
    const { other } = this;
    setTimeout(() => other?.gone());
  }

  /** Disconnects this port as the browser does when the other end is gone. */
  gone(error?: string): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.error = error === undefined ? undefined : { message: error };
    this.onDisconnect.emit(this);
  }
}

export function fakePorts(): [FakePort, FakePort] {
  const [one, two] = [new FakePort(), new FakePort()];
  one.other = two;
  two.other = one;
  return [one, two];
}
