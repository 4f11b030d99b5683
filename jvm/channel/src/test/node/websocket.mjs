// SPDX-License-Identifier: MIT OR Apache-2.0
// `websocket.mjs serve` starts a server and prints its address and token. `websocket.mjs connect URL TOKEN` starts a
// client.
import { connect } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
import { serveWebSockets } from "clearway/channel/websocket-server";
import { WebSocket } from "ws";
import { serve } from "./serve.mjs";

const [way, url, token] = process.argv.slice(2);
// Errors are sent in full, so that the test covers how the JVM reads them. By default, a socket carries only code and
// message.
const whole = { exposeErrors: true };
if (way === "serve") {
  const server = await serveWebSockets({}, async (transport) => serve(await connect(transport, whole)));
  console.log(`${server.url}\n${server.token}`);
} else {
  const endpoint = await connect(webSocketTransport(url, { token, WebSocket }), whole);
  serve(endpoint);
  await endpoint.closed;
}
