// SPDX-License-Identifier: MIT OR Apache-2.0
// #region frame
import { connect } from "clearway/channel";
import { windowTransport } from "clearway/channel/window";

/** @param {string | string[]} origin the sites that may embed this page, for example ["https://shop.example"] */
export async function serveWidget(origin) {
  const endpoint = await connect(windowTransport(parent, { origin }));
  endpoint.methods("widget").handle({
    /** @param {string} name */
    greet: (name) => `hello ${name}, from ${location.origin}`,
  });
}
// #endregion frame
