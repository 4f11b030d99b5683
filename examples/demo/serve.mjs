#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the demo on loopback: `node examples/demo/serve.mjs [--port 4173] [--isolated]`. Ctrl-C stops it.
import { parseArgs } from "node:util";
import { createDemoServer } from "./server/app.mjs";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: process.env.PORT ?? "4173" },
    isolated: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) {
  console.log("usage: node examples/demo/serve.mjs [--port 4173] [--isolated]");
  console.log("  --port      0 takes any free port");
  console.log("  --isolated  serves every page cross-origin isolated; without it, add ?isolated to the address");
  process.exit();
}

const server = await createDemoServer({ isolated: values.isolated });

server.once("error", (error) => {
  const taken = "code" in error && error.code === "EADDRINUSE";
  console.error(taken ? `Port ${values.port} is taken. Try: node examples/demo/serve.mjs --port 0` : error);
  process.exit(1);
});

server.listen(Number(values.port), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : values.port;
  console.log(`Clearway's demo: http://127.0.0.1:${port}/`);
  console.log(`With cross-origin isolation: http://127.0.0.1:${port}/?isolated   (Ctrl-C stops)`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}
