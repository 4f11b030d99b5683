// SPDX-License-Identifier: MIT OR Apache-2.0
// Comlink ships this declaration next to the .js of the same name, where TypeScript does not look for an .mjs.
declare module "comlink/dist/esm/node-adapter.mjs" {
  import type { Endpoint } from "comlink";
  export default function nodeEndpoint(
    port: import("node:worker_threads").Worker | import("node:worker_threads").MessagePort,
  ): Endpoint;
}
