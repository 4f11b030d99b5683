// SPDX-License-Identifier: MIT OR Apache-2.0
// `websocket.mjs serve` prints the address and the token of a server; `websocket.mjs connect URL TOKEN` is a client.
import { connect } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
import { serveWebSockets } from "clearway/channel/websocket-server";
import { WebSocket } from "ws";
import { serve } from "./serve.mjs";

const [way, url, token] = process.argv.slice(2);
// Errors cross whole, so that the JVM's reading of them is tested: by default a socket carries their code and message.
const whole = { exposeErrors: true };
if (way === "serve") {
  const server = await serveWebSockets({}, async (transport) => serve(await connect(transport, whole)));
  console.log(`${server.url}\n${server.token}`);
} else {
  const endpoint = await connect(webSocketTransport(url, { token, WebSocket }), whole);
  serve(endpoint);
  await endpoint.closed;
}
