// SPDX-License-Identifier: MIT OR Apache-2.0
// A page that embeds a frame of another site, and uses a shared worker and a service worker.
// #region parent
import { connect } from "clearway/channel";
import { windowTransport } from "clearway/channel/window";

/** @param {HTMLIFrameElement} frame @param {string} origin for example "https://widget.example" */
export async function openWidget(frame, origin) {
  if (frame.contentWindow === null) throw new Error("add the frame to the page first");
  const endpoint = await connect(windowTransport(frame.contentWindow, { origin }));
  return endpoint.methods("widget");
}

// #endregion parent

// #region tabs
import { sharedWorkerTransport } from "clearway/channel/shared-worker";

export async function openTabs() {
  const worker = new SharedWorker(new URL("./tabs.worker.js", import.meta.url), { type: "module" });
  const endpoint = await connect(sharedWorkerTransport(worker));
  return endpoint.methods("tabs");
}

// #endregion tabs

// #region reconnect
import { serviceWorkerTransport } from "clearway/channel/service-worker";

/** @type {Promise<import("clearway/channel").Endpoint> | undefined} */
let endpoint;

/** @param {string} method @param {unknown} [args] */
export async function callCache(method, args) {
  endpoint ??= connectToWorker();
  return (await endpoint).methods("cache").call(method, args);
}

async function connectToWorker() {
  try {
    const { active } = await navigator.serviceWorker.ready;
    if (active === null) throw new Error("the service worker is not active");
    const connected = await connect(serviceWorkerTransport(active));
    // The next call connects again, and starts the worker again. Calls that were open have failed with `transport-closed`.
    void connected.closed.then(() => (endpoint = undefined));
    return connected;
  } catch (error) {
    endpoint = undefined;
    throw error;
  }
}
// #endregion reconnect
