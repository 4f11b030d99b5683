// SPDX-License-Identifier: MIT OR Apache-2.0
// A thin common interface for the workers of Node and of browsers. It adds one closure per message.
import type { Endpoint } from "comlink";

export interface LabParent {
  post(message: unknown, transfer?: Transferable[]): void;
  listen(receive: (message: unknown) => void): void;
  /** Returns the endpoint that Comlink uses. */
  endpoint(): Endpoint;
}

export interface LabWorker extends LabParent {
  /** Calls `ended` once when the worker has ended. Browsers do not report the end, so `ended` is never called there. */
  onEnd(ended: () => void): void;
  end(): Promise<void>;
}

/** One end of a MessageChannel. */
export interface PortEnd extends LabParent {
  /** The port itself, for Clearway's transports. */
  readonly port: MessagePort;
  close(): void;
}
