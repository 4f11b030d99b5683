// SPDX-License-Identifier: MIT OR Apache-2.0
// Bare request and reply of NATS: one subject, one queue group. The client has one inbox for all its requests. Node only.
import { connect } from "@nats-io/transport-node";
import type { RemoteKind } from "./kind.js";

/** A request without an answer after this time fails, in milliseconds. A lost one must not hang the measurement. */
const TIMEOUT_MS = 30_000;

export const natsRequestKind: RemoteKind = {
  async open({ url, name }) {
    const connection = await connect({ servers: url });
    return {
      call: async (bytes) => (await connection.request(`${name}.call`, bytes, { timeout: TIMEOUT_MS })).data,
      close: () => connection.close(),
    };
  },
  async serve({ url, name }) {
    const connection = await connect({ servers: url });
    connection.subscribe(`${name}.call`, {
      queue: "workers",
      callback: (error, message) => {
        if (error === null) message.respond(message.data);
      },
    });
    // The server has the subscription when it has answered this.
    await connection.flush();
  },
};
