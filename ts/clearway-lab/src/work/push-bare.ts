// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written sender. It calls postMessage for each event, or transfers one ReadableStream.
import { parent } from "#lab-host";
import { emit, type Load, type PushEvent } from "../push/pace.js";

const main = parent();

main.listen(async (message) => {
  const { kind, load, sent } = message as { kind: "post" | "stream"; load: Load; sent: Int32Array };
  if (kind === "post") {
    await emit(load, sent, (event) => main.post(event));
    return;
  }
  let controller!: ReadableStreamDefaultController<PushEvent>;
  const stream = new ReadableStream<PushEvent>({
    start(streamController) {
      controller = streamController;
    },
  });
  main.post(stream, [stream as unknown as Transferable]);
  await emit(load, sent, (event) => controller.enqueue(event));
  controller.close();
});

main.post("ready");
