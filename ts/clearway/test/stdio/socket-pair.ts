// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Returns two ends of a real connection on this machine. */
export async function socketPair(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const one = connect(port, "127.0.0.1");
  const [[other]] = (await Promise.all([once(server, "connection"), once(one, "connect")])) as [[Socket], unknown];
  server.close();
  return [one, other];
}
