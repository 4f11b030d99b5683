// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker's side of one crossing, hand-written.
import { parent } from "#lab-host";
import { type CrossingRequest, makeContent, summaryOf } from "../isolate/crossing.js";

const main = parent();

main.listen((message) => {
  const request = message as CrossingRequest;
  if (request.op === "take") {
    main.post(summaryOf(request.content));
    return;
  }
  const content = makeContent(request.kind, request.bytes);
  main.post(content, request.moves ? [(content as Uint8Array).buffer as ArrayBuffer] : []);
});
