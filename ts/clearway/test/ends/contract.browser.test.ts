// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe } from "vitest";
import { windowTransport } from "../../src/browser/window.js";
import { serviceWorkerTransport } from "../../src/service-worker.js";
import { sharedWorkerTransport } from "../../src/shared-worker.js";
import { type Connected, channelTransportContract, type Wanted } from "../channel/transports/contract.js";
import { RemoteEnd } from "./remote-end.js";

// Vitest's browser routes every `import()` through an object that exists in the page of a test, and not in its frames.
const imports = "globalThis.__vitest_browser_runner__ = { wrapDynamicImport: (load) => load() };";
let count = 0;

/** Connects to a frame of the same origin. The frame's script starts after the page's end. */
function connect(wanted: Wanted, ring?: "offer" | "accept"): Connected {
  const control = `window ${count++} ${Math.random()}`;
  const frame = document.createElement("iframe");
  const other = ring && (ring === "offer" ? "accept" : "offer");
  const options = JSON.stringify({ control, ...wanted, ...(other && { ring: other }) });
  const script = new URL("./other-end.ts", import.meta.url).href;
  frame.srcdoc = `<body data-options='${options}'><script>${imports}</script><script type="module" src="${script}"></script>`;
  document.body.append(frame);
  const b = new RemoteEnd(wanted.frameBytesMax);
  const heard = ({ data, ports }: MessageEvent): void => void (data === control && b.use(ports[0]!));
  addEventListener("message", heard);
  const a = windowTransport(frame.contentWindow!, { origin: location.origin, ...wanted, ...(ring && { ring }) });
  const dispose = (): void => {
    removeEventListener("message", heard);
    b.dispose();
    frame.remove();
  };
  return { a, b, dispose };
}

/** Resolves with whether a window has the same shared memory as this one. In WebKitGTK, it has a copy. */
async function sharesWithWindows(): Promise<boolean> {
  if (typeof SharedArrayBuffer === "undefined") return false;
  const frame = document.createElement("iframe");
  frame.srcdoc = "<script>onmessage = ({ data, ports: [port] }) => { data[0] = 1; port.postMessage(0); }</script>";
  const loaded = new Promise((done) => frame.addEventListener("load", done));
  document.body.append(frame);
  await loaded;
  const words = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const written = new Promise((done) => (port1.onmessage = done));
  frame.contentWindow!.postMessage(words, "*", [port2]);
  await written;
  frame.remove();
  return words[0] === 1;
}

const shares = await sharesWithWindows();
channelTransportContract("window", (wanted) => connect(wanted), shares);
describe.runIf(shares)("between windows that share memory", () => {
  channelTransportContract("window with a ring", (wanted) => connect(wanted, "offer"));
  channelTransportContract("window with a ring, from the end that accepts it", (wanted) => connect(wanted, "accept"));
});

channelTransportContract("shared-worker", (wanted): Connected => {
  const name = `contract ${Math.random()}`;
  const b = new RemoteEnd(wanted.frameBytesMax).use(new BroadcastChannel(name));
  const worker = new SharedWorker(new URL("./other-end.ts", import.meta.url), { type: "module", name });
  return {
    a: sharedWorkerTransport(worker, wanted),
    b,
    kill: () => b.kill(),
    dispose: () => b.dispose(),
  };
});

async function activeWorker(): Promise<ServiceWorker> {
  const script = new URL("./other-end.ts", import.meta.url);
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
