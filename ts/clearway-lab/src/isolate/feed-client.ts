// SPDX-License-Identifier: MIT OR Apache-2.0
// A client of the HTTP/2 fixture. It holds one connection for any number of feeds. Node only.
import { once } from "node:events";
import http2 from "node:http2";

export class FeedClient {
  readonly #session: http2.ClientHttp2Session;

  private constructor(session: http2.ClientHttp2Session) {
    this.#session = session;
    // Requests report the errors of the connection.
    session.on("error", () => {});
  }

  static async open(url: string): Promise<FeedClient> {
    const session = http2.connect(url);
    await once(session, "connect");
    return new FeedClient(session);
  }

  get open(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** Yields the feed in chunks of exactly `chunkBytes` bytes; the last one may be shorter. Each chunk has memory of its own. */
  async *receive(bytes: number, chunkBytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const stream = this.#session.request({ ":path": `/feed?bytes=${bytes}&chunk=${chunkBytes}` });
    let chunk = new Uint8Array(chunkBytes);
    let filled = 0;
    for await (const part of stream as AsyncIterable<Buffer>) {
      for (let at = 0; at < part.length; ) {
        const taken = Math.min(part.length - at, chunkBytes - filled);
        chunk.set(part.subarray(at, at + taken), filled);
        at += taken;
        filled += taken;
        if (filled < chunkBytes) continue;
        yield chunk;
        chunk = new Uint8Array(chunkBytes);
        filled = 0;
      }
    }
    if (filled > 0) yield chunk.subarray(0, filled);
  }

  /** Sends chunks under the back-pressure of the stream. Resolves to the number of bytes that the server confirmed. */
  async send(chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const stream = this.#session.request({ ":method": "POST", ":path": "/feed" });
    const answered = readText(stream);
    answered.catch(() => {});
    for await (const chunk of chunks) if (!stream.write(chunk)) await once(stream, "drain");
    stream.end();
    return (JSON.parse(await answered) as { receivedBytes: number }).receivedBytes;
  }

  close(): void {
    this.#session.close();
  }
}

async function readText(stream: http2.ClientHttp2Stream): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const part of stream as AsyncIterable<string>) text += part;
  return text;
}

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
