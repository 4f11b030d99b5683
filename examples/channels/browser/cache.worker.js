// SPDX-License-Identifier: MIT OR Apache-2.0
// #region service-worker
import { connect } from "clearway/channel";
import { serveServiceWorker } from "clearway/channel/service-worker";

serveServiceWorker(async (transport, client) => {
  const endpoint = await connect(transport);
  endpoint.methods("cache").handle({
    names: () => caches.keys(),
    page: () => client.url,
  });
});
// #endregion service-worker
