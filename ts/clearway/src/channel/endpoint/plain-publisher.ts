// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { MethodCodec } from "../codec/codec.js";
import { Op, Status } from "../wire/frame.js";
import { nothing } from "./connection.js";
import type { Core } from "./core.js";
import { writeEnvelope } from "./methods.js";
import type { Encoded } from "./outgoing-value.js";
import type { Handler } from "./request-router.js";
import type { Served } from "./served.js";
import { Source } from "./source.js";
import type { QueueLimits } from "./source-queue.js";

/** Limits and functions to serve a channel's events. */
export interface PlainServing {
  readonly name: string;
  readonly codec: MethodCodec;
  readonly limits: QueueLimits;
  encode(event: unknown): Encoded;
  begin(source: Source, args: unknown): Promise<void> | undefined;
}

/**
 * Returns a handler that serves events to an end that is not Clearway's (spec/wire.md). `listen` and `cancel` are methods, and
 * each channel has one stream. There is no credit. Events are queued while the transport is congested.
 */
export function plainSource(core: Core, { name, codec, limits, encode, begin }: PlainServing): Handler {
  const { connection } = core;
  const done = { ...nothing, body: codec.reply.encode({ kind: "success", value: null }) };
  let active: Source | undefined;

  const envelope = (error: unknown): Uint8Array | undefined => {
    try {
      return writeEnvelope(codec, connection.errorParts(error, name), connection);
    } catch (thrown) {
      connection.report(thrown, name);
      return undefined;
    }
  };

  const open = (channel: Uint8Array, args: unknown): void => {
    const source: Source = new Source(
      name,
      limits,
      {
        encode,
        event: (message) => connection.send({ op: Op.message, name: channel }, message),
        end: (status, error) => {
          if (status === Status.error) {
            const body = envelope(error);
            if (body) connection.control({ op: Op.message, name: channel }, { ...nothing, body });
          }
          connection.control({ op: Op.message, name: channel });
        },
        report: (error) => connection.report(error, name),
        budget: connection.queued,
        congested: () => connection.congested,
      },
      () => {
        core.plainSources.delete(source);
        if (active === source) active = undefined;
      },
    );
    source.queue.credit.grant(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    core.plainSources.add(source);
    active = source;
    const running = begin(source, args);
    if (running === undefined) return;
    core.plainRunning.add(source);
    void running.then(() => core.plainRunning.delete(source));
  };

  const answer = (served: Served): void => {
    const { method, args } = connection.decode(codec.call, served.message);
    if (method === "listen" && core.plainRunning.size >= connection.settings.callsMax) served.answer(Status.busy);
    else if (method === "listen") {
      active?.cancel(new ClearwayError("cancelled", `${name}: a second listen took this one's place`));
      const channel = connection.name(name);
      // The answer must leave before the first event, because it announces that events may follow.
      served.answer(Status.done, done);
      open(channel, args);
    } else if (method === "cancel") {
      if (active === undefined) {
        const none = { code: "error", message: "No active stream to cancel", details: null, stack: "" };
        const body = writeEnvelope(codec, none, connection);
        return served.answer(Status.done, { ...nothing, body });
      }
      active.cancel(new ClearwayError("cancelled", "the listener has cancelled"));
      served.answer(Status.done, done);
    } else served.answer(Status.notImplemented);
  };

  return {
    request(served) {
      try {
        answer(served);
      } catch (error) {
        served.fail(error, (parts) => writeEnvelope(codec, parts, connection));
      }
      return undefined;
    },
  };
}
