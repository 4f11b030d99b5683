// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import type { EventSink } from "../../../src/channel/endpoint/source.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Op, readFrame, writeFrame } from "../../../src/channel/wire/frame.js";
import { Log } from "../transports/contract.js";
import { endWithTest, rejection, until } from "./pairs.js";

const text = new TextEncoder();

/** Connects an endpoint on the plain wire to a bare peer that reads nothing until its transport is opened. */
async function bare(options: EndpointOptions = {}) {
  const [ta, tb] = memoryPair({ windowBytes: 1000 });
  const end = await connect(ta, { wire: "plain", hello: false, ...options });
  endWithTest(end);
  return { end, tb };
}

/** Returns the bodies of the messages that the peer receives on a channel. */
function received(log: Log, channel: string): Uint8Array[] {
  const frames = log.frames.map((frame) => readFrame(frame, [])!);
  const named = frames.filter(({ op, name }) => op === Op.message && new TextDecoder().decode(name) === channel);
  return named.map(({ body }) => body);
}

/** Closes an endpoint that serves a stream. Returns the bodies of the stream's messages. */
async function closed(source: (sink: EventSink) => void): Promise<Uint8Array[]> {
  const { end, tb } = await bare();
  const served = new Promise<void>((resolve) => {
    const open = (_: unknown, sink: EventSink) => {
      source(sink);
      resolve();
    };
    end.events("e").serve(open, { capacity: 100 });
  });
  const body = standardMethodCodec.call.encode({ method: "listen", args: null });
  tb.send(writeFrame({ op: Op.message, id: 1, name: text.encode("e"), body }));
  await served;
  const closing = end.close();
  const log = new Log();
  tb.open(log);
  await closing;
  await log.end();
  return received(log, "e");
}

describe("on the plain wire", () => {
  test("a stream whose events wait at close ends with an error, and any other without one", async () => {
    const cut = await closed((sink) => {
      for (let n = 0; n < 10; n++) void sink.send(new Uint8Array(500));
    });
    expect(standardMethodCodec.reply.decode(cut.at(-2)!)).toMatchObject({ kind: "error", code: "cancelled" });
    expect(cut.at(-1)!.length).toBe(0);
    const whole = await closed((sink) => void sink.send(1));
    expect(whole.map((body) => body.length > 0)).toEqual([true, false]);
  });

  test("posts that wait for room are sent before close closes the transport", async () => {
    const { end, tb } = await bare();
    const messages = end.messages("m", binaryCodec);
    void messages.post(new Uint8Array(2000)); // It fills the window of the transport.
    const waiting = [1, 2, 3].map((n) => messages.post(new Uint8Array(n)));
    const closing = end.close();
    await new Promise((resolve) => setTimeout(resolve)); // The close goes as far as it can.
    const log = new Log();
    tb.open(log);
    await Promise.all(waiting);
    await closing;
    await log.end();
    expect(received(log, "m").map((body) => body.length)).toEqual([2000, 1, 2, 3]);
  });

  test("a stream is cancelled at the other end also while callsMax calls are open", async () => {
    const { end, tb } = await bare({ callsMax: 2 });
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
});
