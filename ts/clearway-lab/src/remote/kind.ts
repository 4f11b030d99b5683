// SPDX-License-Identifier: MIT OR Apache-2.0
// A way of calling other processes. The caller and its worker processes use the same kind. Node only.
import type { ServerName } from "./programs.js";

/** Where a call goes: the server between the processes, and the name under which the workers of this measurement are found. */
export interface RemotePlace {
  /** The server's address. Empty if the kind has no server. */
  url: string;
  name: string;
}

export interface RemoteCaller {
  /** Sends bytes to a worker process. Resolves to the bytes that it returned. */
  call(bytes: Uint8Array): Promise<Uint8Array>;
  /** Has a worker process compute a fixed number of steps. Absent if only the round trip is of interest. */
  compute?(steps: number): Promise<number>;
  close(): Promise<void>;
}

/** A worker process's part, which returns every call's bytes. */
export interface RemoteWorker {
  /** The worker's own address. Absent if the server finds it. */
  address?: string;
}

export interface RemoteKind {
  server?: ServerName;
  /** Whether a call survives the end of its caller, its worker and the server. */
  durable: boolean;
  /** Prepares the server before the first worker starts, such as the streams of a queue. */
  prepare?(place: RemotePlace): Promise<void>;
  open(place: RemotePlace, addresses: readonly string[]): Promise<RemoteCaller>;
  /** Runs in a worker process, until the process ends. */
  serve(place: RemotePlace): Promise<RemoteWorker>;
}
