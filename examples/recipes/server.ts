// SPDX-License-Identifier: MIT OR Apache-2.0
// The server of docs/recipes-apps.md, on loopback: `node dist/server.js [port]`.
// #region server
import { once } from "node:events";
import { createServer } from "node:http";
import { type ClearwayError, pool } from "clearway";
import { stallMetrics } from "clearway/meter/metrics";

const work = pool<typeof import("./work.tasks.js")>(new URL("./work.tasks.js", import.meta.url), {
  size: 1,
  queue: { items: 1, whenFull: "fail" }, // for a real server: as many as it can answer in time
});
const metrics = stallMetrics();
metrics.pool(work, { pool: "work" });

const server = createServer(async (request, response) => {
  const [path, text = ""] = (request.url ?? "/").split("?");
  if (path === "/metrics") {
    const { contentType, body } = metrics.exposition(request.headers.accept);
    return response.writeHead(200, { "content-type": contentType }).end(body);
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort()); // the client has disconnected, or the answer has been sent
  try {
    const { call } = work.with({ signal: gone.signal });
    if (path === "/articles") {
      response.setHeader("content-type", "text/plain");
      for await (const articles of call.articles(Number(text)).batches())
        if (!response.write(`${articles.join("\n")}\n`)) await once(response, "drain", { signal: gone.signal }); // waits for a slow client
      return response.end();
    }
    const result = path === "/spin" ? await call.spin() : await call.search(text);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
  } catch (error) {
    const { code } = error as ClearwayError;
    if (response.headersSent)
      response.destroy(); // the client sees that the answer is not complete
    else if (!gone.signal.aborted)
      response.writeHead(code === "queue-full" || code === "pool-closed" ? 503 : 500).end();
  }
});
// #endregion server

// #region shutdown
process.once("SIGTERM", async () => {
  server.close(); // accepts no new connection, and ends the idle ones
  server.keepAliveTimeout = 1; // ends the others soon after their answer
  await work.close({ timeoutMs: 25_000 }); // answers the open calls; after 25 s they fail with pool-closed
});
// #endregion shutdown

await work.ready(); // before that, every call counts in the queue
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1");
await once(server, "listening");
console.log(`http://127.0.0.1:${(server.address() as import("node:net").AddressInfo).port}/`);
