#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the remote control on loopback: `node examples/remote-control/serve.mjs [--port 4174] [--socket-port 4175]`.
// Ctrl-C stops it.
import { parseArgs } from "node:util";
import { serveRemoteControl } from "./server/app.mjs";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: process.env.PORT ?? "4174" },
    "socket-port": { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) {
  console.log("usage: node examples/remote-control/serve.mjs [--port 4174] [--socket-port 4175]");
  console.log("  --port         0 takes any free port");
  console.log(
    "  --socket-port  also serves a plain socket, for programs without a browser: swift/Examples/RemoteControl",
  );
  process.exit();
}

try {
  const socketPort = values["socket-port"] === undefined ? undefined : Number(values["socket-port"]);
  const served = await serveRemoteControl({ port: Number(values.port), socketPort });
  console.log(`Clearway's remote control: ${served.url}   (the screen is ${served.kind}; Ctrl-C stops)`);
  if (served.socketPort !== undefined) console.log(`a plain socket: 127.0.0.1:${served.socketPort}`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void served.close());
} catch (reason) {
  const taken = reason instanceof Error && "code" in reason && reason.code === "EADDRINUSE";
  console.error(taken ? `Port ${values.port} is taken. Try: node examples/remote-control/serve.mjs --port 0` : reason);
  process.exitCode = 1;
}
