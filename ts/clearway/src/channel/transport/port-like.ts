// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * One side of a worker's port, with the parts that Node and browsers share: a `MessagePort`, a `Worker` in its owner's thread, or a
 * worker's `self` or `parentPort`.
 */
export interface PortLike {
  /** Posts a message and moves the memory in `transfer`. */
  postMessage(message: unknown, transfer: never[]): void;
}

/** Receives a port's events. */
export interface PortEvents {
  message(message: unknown): void;
  /** A message could not be deserialized on arrival. */
  unreadable(): void;
  /** The other side has closed or exited. */
  gone(detail: Record<string, number>): void;
  /** A worker's error, which may or may not end it. */
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

/** Listens to a port of either host and starts it. Returns a function that stops listening. */
export function listenTo(port: PortLike, events: PortEvents): () => void {
  return "on" in port
    ? listenInNode(port as unknown as Emitter, events)
    : listenInPage(port as unknown as Target, events);
}

function listenInNode(port: Emitter, events: PortEvents): () => void {
  // Node reports a worker's error on a separate channel, perhaps before its last messages, but its exit after all of them. The error
  // therefore waits for the exit.
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
  // A MessagePort delivers nothing before `start`, which only `onmessage` would call implicitly.
  port.start?.();
  return () => {
    for (const [name, listener] of listeners) port.removeEventListener(name, listener);
  };
}

/** Closes a MessagePort. Leaves workers alone: their owner ends them. */
export function closePort(port: PortLike): void {
  if (isMessagePort(port)) (port as unknown as MessagePort).close();
}

// Testing for `close` alone is not enough: a worker's own `self.close()` would end the worker.
function isMessagePort(port: PortLike): boolean {
  return Object.prototype.toString.call(port) === "[object MessagePort]" || port.constructor?.name === "MessagePort";
}
