// SPDX-License-Identifier: MIT OR Apache-2.0
// A thin common interface of Node's and the browser's workers. Adds only one closure for each message.
import type { Endpoint } from "comlink";

export interface LabParent {
  post(message: unknown, transfer?: Transferable[]): void;
  listen(receive: (message: unknown) => void): void;
  /** For Comlink. */
  endpoint(): Endpoint;
}

export interface LabWorker extends LabParent {
  /** Called once when the worker has ended; never in browsers, which do not report it. */
  onEnd(ended: () => void): void;
  end(): Promise<void>;
}

/** One end of a MessageChannel. */
export interface PortEnd extends LabParent {
  /** For transports. */
  readonly port: MessagePort;
  close(): void;
}
