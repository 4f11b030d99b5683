// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * One side of a worker's wire: a `MessagePort`, a `Worker` as its owner sees it, a worker's `self` or `parentPort`; Node's or
 * a browser's, by what they share.
 */
export interface PortLike {
  postMessage(message: unknown, transfer: never[]): void;
}

/** What is told of a port. */
export interface PortEvents {
  message(message: unknown): void;
  /** A message could not be read on arrival. */
  unreadable(): void;
  /** The other side is gone. */
  gone(detail: Record<string, number>): void;
  /** An error of a worker's that may be its end, or not. */
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

/** Listens to a port of either host, and starts it. Returns what stops it. */
export function listenTo(port: PortLike, events: PortEvents): () => void {
  return "on" in port
    ? listenInNode(port as unknown as Emitter, events)
    : listenInPage(port as unknown as Target, events);
}

function listenInNode(port: Emitter, events: PortEvents): () => void {
  // Heard through a wire of its own, maybe before what the worker said last; before its exit is told, all of that is there.
  let fail = (): void => {};
  const listeners: [string, (value: never) => void][] = [
    ["message", events.message],
    ["messageerror", events.unreadable],
    ["close", () => events.gone({})],
    [
      "exit",
      (exitCode: number) => {
        fail();
        events.gone({ exitCode });
      },
    ],
    [
      "error",
      (reason: unknown) => {
        fail = () => events.error(reason);
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
  // A MessagePort waits for it; `onmessage` would have started it.
  port.start?.();
  return () => {
    for (const [name, listener] of listeners) port.removeEventListener(name, listener);
  };
}

/** Closes what can be closed by itself: a MessagePort. A worker belongs to whoever started it. */
export function closePort(port: PortLike): void {
  if (isMessagePort(port)) (port as unknown as MessagePort).close();
}

// Not by `close` alone: a worker's own `self.close()` would end the worker.
function isMessagePort(port: PortLike): boolean {
  return Object.prototype.toString.call(port) === "[object MessagePort]" || port.constructor?.name === "MessagePort";
}
