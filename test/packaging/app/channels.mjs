// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts itself as a child process and calls it. Uses only the packed library.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connect, schema } from "clearway/channel";
import { childTransport, parentTransport } from "clearway/channel/stdio";
import { webSocketTransport } from "clearway/channel/websocket";
import { serveWebSockets } from "clearway/channel/websocket-server";

const Sums = schema({ channel: "sums", methods: { add: { args: { list: "f64" }, result: "f64" } } });

if (process.argv[2] === "child") {
  const endpoint = await connect(parentTransport());
  Sums.handle(endpoint, { methods: { add: (terms) => terms.reduce((sum, term) => sum + term, 0) } });
} else {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "child"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const endpoint = await connect(childTransport(child));
  const sum = await Sums.caller(endpoint).call.add([20, 22]);
  await endpoint.close();
  // This reports a missing package, because `ws` is not installed here.
  const { code, message } = await serveWebSockets({}, () => {}).catch((error) => error);
  console.log(JSON.stringify({ sum, code, message, client: typeof webSocketTransport }));
}
