// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker's side of one crossing, as Clearway's tasks.
import { expose } from "clearway/worker";
import { type Content, type CrossingContent, makeContent, summaryOf } from "../isolate/crossing.js";

export default expose({
  take: (content: Content) => summaryOf(content),
  give: (kind: CrossingContent, bytes: number): Content => makeContent(kind, bytes),
});
