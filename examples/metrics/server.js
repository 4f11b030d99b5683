// SPDX-License-Identifier: MIT OR Apache-2.0
// A /metrics endpoint for the stalls of this thread, on loopback only.
import { once } from "node:events";
// #region metrics
import { createServer } from "node:http";
import { watch } from "clearway/meter";
import { stallMetrics } from "clearway/meter/metrics";

const metrics = stallMetrics();
const server = createServer((request, response) => {
  if (request.url !== "/metrics") return response.writeHead(404).end();
  const { contentType, body } = metrics.exposition(request.headers.accept);
  response.writeHead(200, { "content-type": contentType }).end(body);
});

const scope = metrics.scope({ thread: "main" });
const watching = watch({ onStall: scope.onStall });
// #endregion metrics

/**
 * Serves the metrics on 127.0.0.1. Resolves when the server listens and the watch has all its sources.
 *
 * @param {number} port 0 for any free port
 */
export async function serve(port) {
  server.listen(port, "127.0.0.1");
  await Promise.all([once(server, "listening"), watching.ready]);
  const { port: chosen } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { port: chosen, server, metrics };
}

/** Ends the watch, the scope and the server, with the connections that scrapers keep open. */
export async function stop() {
  watching.stop();
  scope.close();
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
