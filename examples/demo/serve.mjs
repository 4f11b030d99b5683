#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the demo on loopback: `node examples/demo/serve.mjs [--port 4173] [--isolated]`. Ctrl-C stops it.
import { parseArgs } from "node:util";
import { serveDemo } from "./server/app.mjs";

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

try {
  const served = await serveDemo({ port: Number(values.port), isolated: values.isolated });
  console.log(`Clearway's demo: ${served.url}`);
  console.log(`With cross-origin isolation: ${served.url}?isolated   (Ctrl-C stops)`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void served.close());
} catch (reason) {
  const taken = reason instanceof Error && "code" in reason && reason.code === "EADDRINUSE";
  console.error(taken ? `Port ${values.port} is taken. Try: node examples/demo/serve.mjs --port 0` : reason);
  process.exitCode = 1;
}
