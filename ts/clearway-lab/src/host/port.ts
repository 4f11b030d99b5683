// SPDX-License-Identifier: MIT OR Apache-2.0
// The thin common face of Node's and the browser's workers. Adds one closure a message and nothing else.
import type { Endpoint } from "comlink";

export interface LabParent {
  post(message: unknown, transfer?: Transferable[]): void;
  listen(receive: (message: unknown) => void): void;
  /** For Comlink. */
  endpoint(): Endpoint;
}

export interface LabWorker extends LabParent {
  /** Called once when the worker has ended by itself; never in browsers, which do not tell. */
  onEnd(ended: () => void): void;
  end(): Promise<void>;
}

/** One end of a MessageChannel. */
export interface PortEnd extends LabParent {
  /** For a transport of its own. */
  readonly port: MessagePort;
  close(): void;
}
