// SPDX-License-Identifier: MIT OR Apache-2.0
import type { EventStream } from "../endpoint/event-stream.js";
import type { EventSource } from "../endpoint/events.js";
import type { EventSink } from "../endpoint/source.js";
import type { Validated } from "./validated.js";

/** Returns a stream that validates each event when the event is read. An invalid event ends the stream at both ends. */
export function checkedStream(stream: EventStream<unknown>, validate: Validated): EventStream<unknown> {
  return {
    get dropped() {
      return stream.dropped;
    },
    async next() {
      const step = await stream.next();
      if (step.done) return step;
      try {
        return { done: false, value: validate(step.value) };
      } catch (error) {
        await stream.return?.();
        throw error;
      }
    },
    async return() {
      await stream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
  };
}

/** Returns a sink that validates each event before it sends the event. */
export function checkedSink(sink: EventSink, validate: Validated): EventSink {
  return {
    channel: sink.channel,
    get signal() {
      return sink.signal;
    },
    // An async function, so that an invalid event rejects the promise, like a full queue under the policy "fail".
    send: async (event) => sink.send(validate(event)),
    end: () => sink.end(),
    fail: (error) => sink.fail(error),
  };
}

/** Returns a source that validates each event when the event is read. */
export function checkedSource(source: unknown, validate: Validated): EventSource<unknown> {
  if (source === undefined || source === null) return undefined;
  if (isIterable(source)) return checkedEvents(source, validate);
  return (async () => {
    const given = await source;
    return isIterable(given) ? checkedEvents(given, validate) : undefined;
  })();
}

async function* checkedEvents(events: AsyncIterable<unknown> | Iterable<unknown>, validate: Validated) {
  for await (const event of events) yield validate(event);
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}
