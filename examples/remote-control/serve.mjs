#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the remote control on loopback: `node examples/remote-control/serve.mjs [--port 4174]`. Ctrl-C stops it.
import { parseArgs } from "node:util";
import { serveRemote } from "./src/server.mjs";

const { values } = parseArgs({ options: { port: { type: "string", default: process.env["PORT"] ?? "4174" } } });
const remote = await serveRemote(Number(values.port));
console.log(`Remote control: ${remote.url}   (Ctrl-C stops)`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => remote.close());
