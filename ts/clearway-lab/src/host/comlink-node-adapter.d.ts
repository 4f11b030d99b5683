// SPDX-License-Identifier: MIT OR Apache-2.0
// Comlink ships this declaration for the .js file of the same name only. TypeScript does not use it for the .mjs file.
declare module "comlink/dist/esm/node-adapter.mjs" {
  import type { Endpoint } from "comlink";
  export default function nodeEndpoint(
    port: import("node:worker_threads").Worker | import("node:worker_threads").MessagePort,
  ): Endpoint;
}
