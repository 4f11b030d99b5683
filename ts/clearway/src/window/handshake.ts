// SPDX-License-Identifier: MIT OR Apache-2.0
import { listenTo, type PortEvents } from "../channel/transport/port-like.js";
import type { CloseReason } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import type { Timer } from "../globals.js";
import { clearTimeout, newMessageChannel, queueMicrotask } from "../globals.js";
import { after } from "../lazy/timer.js";
import { readWindowMessage, type WindowMessage, windowMessage } from "./message.js";
import { type Origins, targetOf } from "./origins.js";

/** The parts of a window that a page of another origin may use, too. */
export interface WindowLike {
  readonly closed: boolean;
  readonly window: unknown;
  /** Posts a message to the window's page, if the page has the origin `targetOrigin`. */
  postMessage(message: unknown, targetOrigin: string, transfer: Transferable[]): void;
}

/** What two windows agree on. */
export interface Meeting {
  readonly target: WindowLike;
  readonly origins: Origins;
  readonly name: string;
  readonly openMs: number;
}

// Handshakes that are not over, by window and name. A second one of the same name could take the first one's answer.
const pending = new WeakMap<WindowLike, Map<string, Handshake>>();

/**
 * Exchanges ports with another window. Either window may be first: each asks once, and hands over its port when it hears the other.
 *
 * Each end makes a MessageChannel and hands over one of its ports. It sends through the port that it kept, and receives through the port
 * that it was given. An end can therefore send before the other is there, and the browser keeps the messages and the moved memory.
 */
export class Handshake {
  readonly #meeting: Meeting;
  readonly #failed: (reason: CloseReason) => void;
  readonly #id = `${Math.random()}${Math.random()}`;
  readonly #kept: MessagePort;
  readonly #given: MessagePort;
  /** The port that the other end handed over. */
  #received: MessagePort | undefined;
  /** The other end's id. */
  #peer: string | undefined;
  #handed = false;
  #over = false;
  #closed = false;
  #timer: Timer | undefined;
  #events: PortEvents | undefined;
  #stopPort = (): void => {};
  /** The origin of a page that used the right window and the right name, and that may not connect. */
  #refused: string | undefined;

  /** Throws `invalid-argument` if another handshake with this window has the same name. */
  constructor(meeting: Meeting, failed: (reason: CloseReason) => void) {
    const { target, name } = meeting;
    const names = pending.get(target) ?? new Map<string, Handshake>();
    const earlier = names.get(name);
    if (earlier && !earlier.#closed) throw invalid("name", "of no other handshake with this window", name);
    if (earlier) earlier.#finish();
    pending.set(target, names.set(name, this));
    this.#meeting = meeting;
    this.#failed = failed;
    const { port1, port2 } = newMessageChannel();
    this.#kept = port1;
    this.#given = port2;
    // If the transport is closed before this microtask, the other window never hears of it.
    queueMicrotask(() => this.#begin());
  }

  /** Sends a channel's message. Before the handshake is over, the message waits in the port that is handed over. */
  post(message: unknown, transfer: never[]): void {
    this.#kept.postMessage(message, transfer);
  }

  /** Receives the channel's messages, as soon as there is a port. Returns a function that stops. */
  listen(events: PortEvents): () => void {
    this.#events = events;
    this.#attach();
    return () => {
      this.#events = undefined;
      this.#stopPort();
    };
  }

  /** Called when the transport has ended. A pending handshake still delivers what the transport has sent. */
  close(): void {
    this.#closed = true;
    if (this.#over) this.#closePorts();
  }

  #begin(): void {
    const { target, origins, openMs } = this.#meeting;
    if (this.#closed) return this.#finish();
    if (target.closed) return this.#fail({ code: "lost", message: "the window is closed" });
    addEventListener("message", this.#event);
    if (openMs !== Number.POSITIVE_INFINITY) this.#timer = after(openMs, () => this.#tooLate());
    // Each origin gets the question separately, so that no other page learns the connection's name.
    for (const targetOrigin of new Set(origins?.map(targetOf) ?? ["*"]))
      this.#send({ kind: "ask", name: this.#meeting.name, from: this.#id, to: undefined }, targetOrigin, []);
  }

  readonly #event = ({ data, origin, ports, source }: MessageEvent): void => {
    const { target, origins, name } = this.#meeting;
    if (source !== (target as unknown)) return;
    const message = readWindowMessage(data);
    if (message?.name !== name) return;
    if (origins !== undefined && !origins.includes(origin)) {
      this.#refused = origin;
      return;
    }
    if (message.kind === "ask") {
      if (this.#peer !== undefined && this.#peer !== message.from)
        return this.#fail({ code: "lost", message: "the page in the other window was replaced during the handshake" });
      this.#peer = message.from;
      return this.#hand(origin);
    }
    const [port] = ports;
    if (message.to !== this.#id || port === undefined || (this.#peer ?? message.from) !== message.from) return;
    this.#peer = message.from;
    this.#received = port;
    this.#hand(origin);
    if (this.#over) return;
    this.#attach();
    this.#finish();
  };

  #hand(origin: string): void {
    if (this.#handed) return;
    this.#handed = true;
    const { name } = this.#meeting;
    this.#send({ kind: "port", name, from: this.#id, to: this.#peer }, targetOf(origin), [this.#given]);
  }

  #send(message: WindowMessage, targetOrigin: string, transfer: Transferable[]): void {
    try {
      this.#meeting.target.postMessage(windowMessage(message), targetOrigin, transfer);
    } catch (cause) {
      this.#fail({ code: "failed", message: "the window refused a message", cause });
    }
  }

  #attach(): void {
    if (this.#received && this.#events) this.#stopPort = listenTo(this.#received, this.#events);
  }

  #tooLate(): void {
    const { target, openMs } = this.#meeting;
    const why = target.closed
      ? "; it is closed"
      : this.#refused === undefined
        ? ""
        : `; its page has the origin ${JSON.stringify(this.#refused)}, which the option origin does not contain`;
    this.#fail({ code: "timeout", message: `the window did not connect within ${openMs} ms${why}` });
  }

  #fail(reason: CloseReason): void {
    this.#finish();
    this.#failed(reason);
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    removeEventListener("message", this.#event);
    clearTimeout(this.#timer);
    const { target, name } = this.#meeting;
    const names = pending.get(target);
    if (names?.get(name) === this) names.delete(name);
    if (this.#closed) this.#closePorts();
  }

  #closePorts(): void {
    this.#kept.close();
    if (!this.#handed) this.#given.close();
    this.#received?.close();
  }
}
