// SPDX-License-Identifier: MIT OR Apache-2.0
// #region electron
import { connect } from "clearway/channel";
import { electronTransport } from "clearway/channel/electron";

// Main process: `const { port1, port2 } = new MessageChannelMain()`, then
// `window.webContents.postMessage("clearway", null, [port2])`, then `serveFiles(port1)`.
/** @param {import("clearway/channel/electron").ElectronPort} port */
export async function serveFiles(port) {
  const endpoint = await connect(electronTransport(port));
  endpoint.methods("files").handle({ names: () => ["a.txt", "b.txt"] });
}

// Renderer: the preload script hands the port on,
// `ipcRenderer.on("clearway", ({ ports }) => window.postMessage("clearway", location.origin, ports))`.
/** @param {import("clearway/channel/electron").ElectronPort} port */
export async function listFiles(port) {
  const endpoint = await connect(electronTransport(port));
  return endpoint.methods("files").call("names", null);
}
// #endregion electron
