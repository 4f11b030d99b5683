// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's tasks for a feed: a stream from the worker, and a stream into it. The connection is kept between calls.
import { expose } from "clearway/worker";
import type { FeedLoad } from "../isolate/feed-client.js";
import { FeedClient } from "../isolate/feed-client.js";

let client: FeedClient | undefined;

async function opened(url: string): Promise<FeedClient> {
  if (!client?.open) client = await FeedClient.open(url);
  return client;
}

export default expose({
  async *receive({ url, bytes, chunkBytes }: FeedLoad) {
    yield* (await opened(url)).receive(bytes, chunkBytes);
  },
  async send({ url }: FeedLoad, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    return (await opened(url)).send(chunks);
  },
});
