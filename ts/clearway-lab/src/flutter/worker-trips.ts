// SPDX-License-Identifier: MIT OR Apache-2.0
// The same messages over Clearway's channels, between Node's main thread and a worker that answers as the Dart program does.
import {
  connect,
  type Endpoint,
  jsonMessageCodec,
  portTransport,
  standardMethodCodec,
  stringCodec,
} from "clearway/channel";
import { openWorker, portEnd } from "#lab-host";
import { inFlight, measuredOf } from "../channel/drive.js";
import { same } from "../channel/payload.js";
import { type Mechanism, numberParam } from "../protocol/measured.js";
import { type Row, rowOf } from "./rows.js";

/** What the main thread sends to the worker, once. */
export interface AnswerRequest {
  port: MessagePort;
  ring: boolean;
}

const WARM_UP_MAX = 300;

function workerTrips(ring: boolean): Mechanism {
  return async ({ params }) => {
    const row = rowOf(params);
    const messages = numberParam(params, "messages");
    const worker = openWorker("flutter-answer");
    const { port1, port2 } = new MessageChannel();
    const end = portEnd(port1);
    try {
      const request: AnswerRequest = { port: port2, ring };
      worker.post(request, [port2]);
      const endpoint = await connect(portTransport(end.port, ring ? { ring: "offer" } : {}));
      const once = callOf(endpoint, row);
      for (let sent = 0; sent < Math.min(messages, WARM_UP_MAX); sent++) await once();
      const figures = await inFlight(once, messages);
      const equal = same(await once(), row.answer);
      await endpoint.close();
      return measuredOf({ ...figures, equal });
    } finally {
      end.close();
      await worker.end();
    }
  };
}

function callOf(endpoint: Endpoint, { channel, codec, method = "", value }: Row): () => Promise<unknown> {
  if (codec === "standard-method") {
    const methods = endpoint.methods(channel, standardMethodCodec);
    return () => methods.call(method, value);
  }
  if (codec === "json") {
    const events = endpoint.messages(channel, jsonMessageCodec);
    return () => events.send(value);
  }
  const texts = endpoint.messages(channel, stringCodec);
  return async () => (await texts.send(value as string)) ?? "";
}

/** Answers as the Dart program does: it decodes each message, and answers without it. Returns at once. */
export function answerAsDart({ port, ring }: AnswerRequest): void {
  void connect(portTransport(port, ring ? { ring: "accept" } : {})).then((endpoint) => {
    endpoint.messages("flutter/lifecycle", stringCodec).handle(() => "");
    endpoint.messages("flutter/keyevent", jsonMessageCodec).handle(() => ({ handled: false }));
    endpoint.methods("window_manager", standardMethodCodec).handle({ onEvent: () => null });
  });
}

export const workerAnswers: Record<string, Mechanism> = {
  clearway: workerTrips(false),
  "clearway-ring": workerTrips(true),
};
