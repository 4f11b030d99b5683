// SPDX-License-Identifier: MIT OR Apache-2.0
// One feed, and the messages between the main thread and a hand-written worker that holds the connection.

export interface FeedLoad {
  url: string;
  bytes: number;
  chunkBytes: number;
}

/** What the bare worker gets and posts. A `chunk` goes in either direction; the other end answers it with `next`. */
export type FeedMessage =
  | { op: "receive" | "send"; load: FeedLoad }
  | { op: "chunk"; chunk: Uint8Array<ArrayBuffer> }
  | { op: "next" }
  | { op: "end"; bytes?: number }
  | { op: "failed"; message: string };
