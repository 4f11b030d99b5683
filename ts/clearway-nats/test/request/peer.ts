// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { expect, onTestFinished } from "vitest";
import { decodeReply, wireCodec } from "../../src/wire/call.js";

/** The codec of all messages. */
export const codec = wireCodec();

/** A peer that speaks NATS, and sends what it wants. */
export class Peer {
  readonly received: Msg[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(
    readonly connection: NatsConnection,
    readonly inbox: string,
  ) {
    connection.subscribe(`${inbox}.*`, {
      callback: (_error, message) => {
        this.received.push(message);
        for (const each of this.#waiting.splice(0)) each();
      },
    });
  }

  send(subject: string, bytes: Uint8Array, token?: string): void {
    this.connection.publish(subject, bytes, token === undefined ? undefined : { reply: `${this.inbox}.${token}` });
  }

  async next(token: string): Promise<Msg> {
    for (;;) {
      const at = this.received.findIndex(({ subject }) => subject === `${this.inbox}.${token}`);
      if (at >= 0) return this.received.splice(at, 1)[0]!;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Returns the error of the next answer. */
  async failure(token: string): Promise<unknown> {
    const reply = decodeReply(codec, (await this.next(token)).data);
    return reply.ok ? expect.fail("the call succeeded") : reply.error;
  }
}

/** Connects a peer, with an inbox of its own. It ends with its test. */
export async function peer(url: string): Promise<Peer> {
  const connection = await connect({ servers: url });
  onTestFinished(() => connection.close());
  return new Peer(connection, `_INBOX.peer${Math.random().toString(36).slice(2)}`);
}
