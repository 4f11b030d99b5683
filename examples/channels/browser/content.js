// SPDX-License-Identifier: MIT OR Apache-2.0
// #region content
import { connect } from "clearway/channel";
import { extensionTransport } from "clearway/channel/extension";

/** @param {import("clearway/channel/extension").ExtensionPort} port the result of chrome.runtime.connect() */
export async function countWords(port) {
  const endpoint = await connect(extensionTransport(port));
  return endpoint.methods("words").call("count", document.body.textContent);
}
// #endregion content
