// SPDX-License-Identifier: MIT OR Apache-2.0
// What the two hosts have in common: a thin interface for the workers of Node and of browsers, which adds one closure per message, and an upload
// as plain data.
import type { Endpoint } from "comlink";
import { numberParam, type Work } from "../protocol/measured.js";

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

/** One upload: the source, the sizes in bytes and the URL. `source` is a path in Node and a Blob in a browser. */
export interface Upload {
  source: string | Blob;
  bytes: number;
  chunkBytes: number;
  url: string;
}

export interface Progress {
  sentBytes: number;
}

/** Returns the upload for a cell's parameters. */
export function uploadOf({ params, fixture }: Work, source: string | Blob): Upload {
  return {
    source,
    bytes: numberParam(params, "fileBytes"),
    chunkBytes: numberParam(params, "chunkBytes"),
    url: fixture.httpUrl + "/upload",
  };
}
