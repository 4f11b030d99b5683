// SPDX-License-Identifier: MIT OR Apache-2.0
// A way of calling other processes over NATS. Node only.

/** Where a call goes: the server between the processes, and the name under which the workers of this measurement are found. */
export interface RemotePlace {
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

/** The caller and its worker processes use the same kind. */
export interface RemoteKind {
  /** Prepares the server before the first worker starts, such as the streams of a queue. */
  prepare?(place: RemotePlace): Promise<void>;
  open(place: RemotePlace): Promise<RemoteCaller>;
  /** Returns the bytes of every call. Runs in a worker process, until the process ends. Resolves when it answers calls. */
  serve(place: RemotePlace): Promise<void>;
}
