// SPDX-License-Identifier: MIT OR Apache-2.0
// #region server
import { connect } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
import { serveWebSockets } from "clearway/channel/websocket-server";
import { WebSocket } from "ws";
import { serveThermometer, Thermometer } from "./thermometer.js";

const server = await serveWebSockets({ path: "/thermometer" }, async (transport) => {
  serveThermometer(await connect(transport));
});
console.log(new URL(server.url).hostname, server.token?.length);
// #endregion server

// #region client
// Browsers and Node 22 have the class WebSocket. The option `WebSocket` can be left out there.
const transport = webSocketTransport(server.url, { token: server.token ?? "", WebSocket });
const endpoint = await connect(transport);
const thermometer = Thermometer.caller(endpoint);

let last = 0;
for await (const { level } of thermometer.listen.changed(1000)) last = level; // the server waits for this loop
console.log(last);
// #endregion client

// #region refused
const stranger = connect(webSocketTransport(server.url, { token: "a-guess", WebSocket }));
await stranger.catch((error) => console.log(error.code, "-", error.message));
// #endregion refused

await endpoint.close();
await server.close();
