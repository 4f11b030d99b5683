// SPDX-License-Identifier: MIT OR Apache-2.0
import { serviceWorkerTransport } from "../../src/browser/service-worker.js";
import { type Connected, channelTransportContract } from "../channel/transports/contract.js";
import { RemoteEnd } from "./remote-end.js";

async function activeWorker(): Promise<ServiceWorker> {
  const script = new URL("./end.service-worker.ts", import.meta.url);
  const registration = await navigator.serviceWorker.register(script, { type: "module" });
  if (registration.active) return registration.active;
  const worker = (registration.installing ?? registration.waiting)!;
  await new Promise<void>((done) => {
    worker.onstatechange = () => worker.state === "activated" && done();
  });
  return worker;
}

const started = activeWorker();

channelTransportContract("service-worker", async (wanted): Promise<Connected> => {
  const worker = await started;
  const { port1, port2 } = new MessageChannel();
  worker.postMessage("control", [port2]);
  const b = new RemoteEnd(wanted.frameBytesMax).use(port1);
  return { a: serviceWorkerTransport(worker, wanted), b, dispose: () => b.dispose() };
});
