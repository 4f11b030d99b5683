// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves WebSockets to any client. Sends its URL to its parent process. Answers each message of the parent with its own peak memory.
import { connect } from "clearway/channel";
import { serveWebSockets } from "clearway/channel/websocket-server";

const answerBytes = 10_000;

const server = await serveWebSockets({ token: false }, async (transport) => {
  const end = await connect(transport, { onError() {} });
  end.messages("echo").handle((value) => value);
  end.messages("large").handle(() => new Uint8Array(answerBytes));
  end.messages("held").handle(() => new Promise(() => {}));
  await end.closed;
});

process.on("message", () => {
  globalThis.gc();
  // maxRSS is in kibibytes. It is the peak of this process since its start.
  process.send({ peakBytes: process.resourceUsage().maxRSS * 1024 });
});
process.on("disconnect", () => process.exit(0));
process.send({ url: server.url });
