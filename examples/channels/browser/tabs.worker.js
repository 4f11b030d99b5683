// SPDX-License-Identifier: MIT OR Apache-2.0
// #region shared-worker
import { connect } from "clearway/channel";
import { serveSharedWorker } from "clearway/channel/shared-worker";

let visits = 0;
const channels = serveSharedWorker(async (transport) => {
  const endpoint = await connect(transport);
  endpoint.methods("tabs").handle({
    visit: () => ({ visits: ++visits, open: channels.connections }),
  });
});
// #endregion shared-worker
