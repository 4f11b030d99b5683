// SPDX-License-Identifier: MIT OR Apache-2.0
import { watchLifeline } from "#host";
import { newAbortController } from "../../globals.js";
import { lazyModule } from "../../lazy/lazy.js";
import type { CloseReason, TransportLimits } from "./transport.js";

/**
 * One side of a worker's port, with the methods that Node and browsers share. It is a `MessagePort`, a `Worker` in its owner's
 * thread, or a worker's `self` or `parentPort`.
 */
export interface PortLike {
  /** Posts a message and moves the memory in `transfer`. */
  postMessage(message: unknown, transfer: never[]): void;
}

/** Receives a port's events. */
export interface PortEvents {
  message(message: unknown): void;
  /** Called when a message could not be deserialized on arrival. */
  unreadable(): void;
  /** Called when the other side has closed or exited. `thrown` has the error that ended it, if there is one. */
  gone(detail: Record<string, number>, thrown?: Pick<CloseReason, "cause">): void;
  /** Called for a worker's error. The worker may survive it. */
  error(reason: unknown): void;
}

interface Emitter {
  on(name: string, listener: (value: never) => void): void;
  off(name: string, listener: (value: never) => void): void;
}

interface Target {
  addEventListener(name: string, listener: (event: never) => void): void;
  removeEventListener(name: string, listener: (event: never) => void): void;
  start?(): void;
}

/** Listens to a port of Node or of a browser, and starts the port. Returns a function that stops listening. */
export function listenTo(port: PortLike, events: PortEvents): () => void {
  return "on" in port
    ? listenInNode(port as unknown as Emitter, events)
    : listenInPage(port as unknown as Target, events);
}

function listenInNode(port: Emitter, events: PortEvents): () => void {
  // Node may report a worker's error before the worker's last messages. It reports the worker's exit after all messages. The
  // error is therefore held until the exit.
  let thrown: Pick<CloseReason, "cause"> | undefined;
  const listeners: [string, (value: never) => void][] = [
    ["message", events.message],
    ["messageerror", events.unreadable],
    ["close", () => events.gone({})],
    [
      "exit",
      (exitCode: number) => {
        if (thrown) events.error(thrown.cause);
        events.gone({ exitCode }, thrown);
      },
    ],
    [
      "error",
      (cause: unknown) => {
        thrown = { cause };
      },
    ],
  ];
  for (const [name, listener] of listeners) port.on(name, listener);
  return () => {
    for (const [name, listener] of listeners) port.off(name, listener);
  };
}

function listenInPage(port: Target, events: PortEvents): () => void {
  const listeners: [string, (event: never) => void][] = [
    ["message", ({ data }: MessageEvent) => events.message(data)],
    ["messageerror", events.unreadable],
    ["close", () => events.gone({})],
    ["error", (event: ErrorEvent) => events.error(event.error ?? event.message)],
  ];
  for (const [name, listener] of listeners) port.addEventListener(name, listener);
  // A `MessagePort` delivers nothing before `start`. Only setting `onmessage` would call `start` implicitly.
  port.start?.();
  return () => {
    for (const [name, listener] of listeners) port.removeEventListener(name, listener);
  };
}

/** Closes a `MessagePort`. Does not close workers, because their owner ends them. */
export function closePort(port: PortLike): void {
  if (isMessagePort(port)) (port as unknown as MessagePort).close();
}

// Returns whether a port is a `MessagePort`. Testing for `close` is not enough: a worker's own `self.close()` would end the
// worker.
function isMessagePort(port: PortLike): boolean {
  return Object.prototype.toString.call(port) === "[object MessagePort]" || port.constructor?.name === "MessagePort";
}

/** Waits for the end of the thread at the other side of a port. A browser reports nothing when a worker is terminated. */
export class PeerThread {
  #watching: AbortController | undefined;

  /** Starts to wait. `name` is the lock that the thread holds. Returns false if the name is invalid or not the first one. */
  watch(name: unknown, onEnd: () => void): boolean {
    if (typeof name !== "string" || this.#watching) return false;
    this.#watching = newAbortController();
    watchLifeline(name, this.#watching.signal, onEnd).catch(() => {}); // a host without locks has no lifeline
    return true;
  }

  stop(): void {
    this.#watching?.abort();
  }
}

// Several messages of 1 MiB fit, with the half that the other end has not reported yet. With a window of 1 MiB, each message waits until the
// other end has taken the one before, so both threads sleep once for each.
export const defaultPortWindowBytes = 8 << 20;

/** Settings of a port that carries channels. */
export interface PortOptions extends TransportLimits {
  /** Number of bytes that may be in flight before `send` returns false. Default: 8 MiB. A single larger frame is still sent. */
  readonly windowBytes?: number | undefined;
  /**
   * Adds a ring of shared memory to the port, for frames of at most 512 bytes. While both ends are awake, such a frame needs no
   * message of the port. One end sets "offer", and the other end must set "accept". An end that does not set "accept" closes
   * with `protocol` if the other end offers a ring. If the offering end has no shared memory, it offers no ring, and the port
   * carries every frame. An end that was just busy polls the ring for 200 us, between its own turns of the event loop.
   */
  readonly ring?: "offer" | "accept" | undefined;
}

type RingModule = typeof import("./channel-ring-port.js");

// Set on first use, so that bundlers can leave the ring's code out of an app that uses codecs but no ports.
let load: (() => Promise<RingModule>) | undefined;

/** Loads the ring's code on first use. Rejects if it cannot be loaded. */
export function loadRing(): Promise<RingModule> {
  load ??= lazyModule(async () => import("./channel-ring-port.js"));
  return load();
}
