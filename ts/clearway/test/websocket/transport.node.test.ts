// SPDX-License-Identifier: MIT OR Apache-2.0
import { WebSocket } from "ws";
import type { ChannelTransport } from "../../src/channel/transport/transport.js";
import { webSocketTransport } from "../../src/websocket.js";
import { serveWebSockets } from "../../src/websocket-server/serve.js";
import { type Connected, channelTransportContract, type Wanted } from "../channel/transports/contract.js";

/** Connects two ends over a real connection on this machine. */
async function connected(wanted: Wanted) {
  let met = (_: ChannelTransport): void => {};
  let cut = (): void => {};
  const meeting = new Promise<ChannelTransport>((resolve) => {
    met = resolve;
  });
  const channels = await serveWebSockets(wanted, (transport, request) => {
    cut = () => request.socket.resetAndDestroy();
    met(transport);
  });
  const socket = new WebSocket(channels.url, ["clearway.channel.1", `clearway.token.${channels.token}`]);
  const client = webSocketTransport(socket, wanted);
  return { client, server: await meeting, socket, cut: () => cut(), dispose: () => channels.close() };
}

channelTransportContract("websocket, the client's end", async (wanted): Promise<Connected> => {
  const { client, server, cut, dispose } = await connected(wanted);
  return { a: client, b: server, kill: cut, dispose };
});

channelTransportContract("websocket, the server's end", async (wanted): Promise<Connected> => {
  const { client, server, socket, dispose } = await connected(wanted);
  return { a: server, b: client, kill: () => socket.terminate(), dispose };
});
