// SPDX-License-Identifier: MIT OR Apache-2.0
// #region background
import { connect } from "clearway/channel";
import { extensionTransport } from "clearway/channel/extension";

/** @param {import("clearway/channel/extension").ExtensionPort} port of chrome.runtime.onConnect */
export async function serveWords(port) {
  const endpoint = await connect(extensionTransport(port));
  endpoint.methods("words").handle({
    /** @param {string} text */
    count: (text) => text.split(/\s+/).filter(Boolean).length,
  });
}
// #endregion background
