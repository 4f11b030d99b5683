// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves each page of a test, and does with its transport what the test asks for.
import "../fixtures/build-constants.js";
import { lifeline } from "#host";
import { serveSharedWorker } from "../../src/shared-worker.js";
import { obey } from "./remote-end.js";

const scope = globalThis as unknown as { name: string; close(): void };
// A worker that ends before it has announced its lock ends undetected.
const kill = (): void => void lifeline()?.then(() => setTimeout(() => scope.close()));

serveSharedWorker((transport) => obey(new BroadcastChannel(scope.name), transport, kill), { frameBytesMax: 1 << 20 });
