// SPDX-License-Identifier: MIT OR Apache-2.0
// The script of a test's frame, shared worker and service worker: connects to the page, and does with its transport what the test asks for.
import "../fixtures/build-constants.js";
import { lifeline } from "#host";
import { windowTransport } from "../../src/browser/window.js";
import { serveServiceWorker } from "../../src/service-worker.js";
import { serveSharedWorker } from "../../src/shared-worker.js";
import { obey } from "./remote-end.js";

const limits = { frameBytesMax: 1 << 20 };

function inFrame(): void {
  const { control, ...options } = JSON.parse(document.body.dataset["options"] ?? "{}");
  const { port1, port2 } = new MessageChannel();
  parent.postMessage(control, globalThis.origin, [port2]);
  obey(port1, windowTransport(parent, { origin: globalThis.origin, ...options }));
}

function inSharedWorker(): void {
  const scope = globalThis as unknown as { name: string; close(): void };
  // A worker that ends before it has announced its lock ends undetected.
  const kill = (): void => void lifeline()?.then(() => setTimeout(() => scope.close()));
  serveSharedWorker((transport) => obey(new BroadcastChannel(scope.name), transport, kill), limits);
}

/** Obeys over the latest port that the test has sent. */
function inServiceWorker(): void {
  let control: MessagePort | undefined;
  addEventListener("message", ({ data, ports }: MessageEvent) => {
    if (data === "control") control = ports[0];
  });
  serveServiceWorker((transport) => obey(control!, transport), limits);
}

if ("document" in globalThis) inFrame();
else if ("onconnect" in globalThis) inSharedWorker();
else inServiceWorker();
