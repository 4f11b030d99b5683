// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Op, readFrame, writeFrame } from "../../../src/channel/wire/frame.js";
import { Log } from "../transports/contract.js";
import { endWithTest, rejection, until } from "./pairs.js";

/** Returns the bodies of the messages that the peer receives on a channel. */
function received(log: Log, channel: string): Uint8Array[] {
  const frames = log.frames.map((frame) => readFrame(frame, [])!);
  const named = frames.filter(({ op, name }) => op === Op.message && new TextDecoder().decode(name) === channel);
  return named.map(({ body }) => body);
}

test("a stream on the plain wire is cancelled at the other end also while callsMax calls are open", async () => {
  const [ta, tb] = memoryPair();
  const end = await connect(ta, { wire: "plain", hello: false, callsMax: 2 });
  endWithTest(end);
  const log = new Log();
  tb.open(log);
  const stream = end.events("e").listen();
  await log.count(1);
  tb.send(
    writeFrame({ op: Op.answer, id: 1, body: standardMethodCodec.reply.encode({ kind: "success", value: null }) }),
  );
  await until(() => end.stats().calls === 0);
  const reading = stream.next();
  const calls = [1, 2].map((n) => rejection(end.messages("m").send(n)));
  await stream.return();
  await reading;
  void end.messages("fence").post(1);
  await log.until(() => received(log, "fence").length > 0);
  const methods = received(log, "e").map((body) => standardMethodCodec.call.decode(body).method);
  expect(methods).toEqual(["listen", "cancel"]);
  end.terminate();
  await Promise.all(calls);
});
