// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written worker that holds an HTTP/2 connection. It passes a feed to the main thread, or sends the main thread's chunks.
import { parent } from "#lab-host";
import type { FeedLoad, FeedMessage } from "../isolate/feed-client.js";
import { FeedClient } from "../isolate/feed-client.js";

const main = parent();
let client: FeedClient | undefined;
let onMessage: (message: FeedMessage) => void = () => {};

const post = (message: FeedMessage, transfer: Transferable[] = []) => main.post(message, transfer);
/** Resolves with the main thread's next message. */
const next = () => new Promise<FeedMessage>((resolve) => (onMessage = resolve));

async function run(op: "receive" | "send", { url, bytes, chunkBytes }: FeedLoad): Promise<void> {
  if (!client?.open) client = await FeedClient.open(url);
  if (op === "send") {
    post({ op: "end", bytes: await client.send(asked()) });
    return;
  }
  for await (const chunk of client.receive(bytes, chunkBytes)) {
    const taken = next();
    post({ op: "chunk", chunk }, [chunk.buffer]);
    await taken;
  }
  post({ op: "end" });
}

/** Asks the main thread for one chunk after the other. */
async function* asked(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const answer = next();
    post({ op: "next" });
    const message = await answer;
    if (message.op !== "chunk") return;
    yield message.chunk;
  }
}

main.listen((received) => {
  const message = received as FeedMessage;
  if (message.op !== "receive" && message.op !== "send") {
    onMessage(message);
    return;
  }
  run(message.op, message.load).catch((error: Error) => post({ op: "failed", message: error.message }));
});
