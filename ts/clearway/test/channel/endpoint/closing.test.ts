// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { outcome } from "../../../src/channel/endpoint/outcome.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Op, readFrame, writeFrame } from "../../../src/channel/wire/frame.js";
import { gate } from "../../fixtures/pools.js";
import { Log } from "../transports/contract.js";
import { answerBytes, bare, endpoints, endWithTest, text, turn } from "./pairs.js";

const endless = { timeoutMs: Number.POSITIVE_INFINITY };
const listen = new Uint8Array([7, 6, ...text.encode("listen"), 0]);

describe("close()", () => {
  test("lets posts that wait for room leave first", async () => {
    const { end, there, log } = await bare();
    const posts = [1, 2, 3].map(() => end.messages("m").post(new Uint8Array(answerBytes)));
    const closed = end.close(endless);
    await turn();
    there.open(log);
    await closed;
    await Promise.all(posts);
    await log.end();
    expect(log.frames.slice(1).map((bytes) => readFrame(bytes, [])!.op)).toEqual([Op.post, Op.post, Op.post]);
  });

  test("drops posts that wait for room when its time is over", async () => {
    const { end } = await bare();
    const posts = [1, 2].map(() => outcome(end.messages("m").post(new Uint8Array(answerBytes))));
    await end.close({ timeoutMs: 1 });
    expect(await Promise.all(posts)).toMatchObject([{ kind: "result" }, { kind: "closed" }]);
  });

  test.each([
    [0, "with its end if no event waits"],
    [3, "with an error if it drops events that wait"],
  ])("ends a stream of %i more events on the plain wire %s", async (more) => {
    const [transport, there] = memoryPair({ windowBytes: 1000 });
    const end = await connect(transport, { wire: "plain", hello: false });
    endWithTest(end);
    end.events("e").serve((_, sink: { send(event: Uint8Array): Promise<boolean> }) => {
      for (let at = 0; at <= more; at++) void sink.send(new Uint8Array(answerBytes));
    });
    there.send(writeFrame({ op: Op.message, id: 1, name: text.encode("e"), body: listen }));
    await turn();
    const closed = end.close(endless);
    const log = new Log();
    there.open(log);
    await closed;
    await log.end();
    const bodies = log.frames.map((bytes) => readFrame(bytes, [])!.body);
    // The answer to `listen`, the event that filled the window, perhaps an error, and the end.
    expect(bodies.map(({ length }) => length > 0)).toEqual([true, true, ...(more > 0 ? [true] : []), false]);
    if (more > 0) expect(new TextDecoder().decode(bodies[2])).toContain("cancelled");
  });

  test.each(["clearway", "plain"] as const)(
    "refuses calls and streams that arrive after it, and settles when the open ones have ended, on the %s wire",
    async (wire) => {
      const { a, b } = await endpoints(undefined, { wire });
      const begun = gate();
      const finish = gate<string>();
      let ran = 0;
      b.methods("m").handle({
        slow: () => {
          begun.tell();
          return finish.promise;
        },
        quick: () => ran++,
      });
      b.events("e").serve(() => [ran++]);
      const slow = a.methods("m").call("slow");
      await begun.promise;
      const closed = b.close(endless);
      await turn();
      const late = [
        outcome(a.methods("m").call("quick")),
        outcome(a.events("e").listen()[Symbol.asyncIterator]().next()),
      ];
      const refused = { kind: wire === "plain" ? "not-implemented" : "no-handler" };
      expect(await Promise.all(late)).toMatchObject([refused, refused]);
      finish.tell("done");
      expect(await slow).toBe("done");
      await closed;
      expect(ran).toBe(0);
    },
  );

  test("at both ends at once answers the calls that cross it", async () => {
    const { a, b } = await endpoints();
    for (const end of [a, b]) end.messages("m").handle((value) => value);
    const calls = [a, b].map((end) => end.messages("m").send(1));
    const closed = [a, b].map((end) => end.close(endless));
    expect(await Promise.all(calls)).toEqual([1, 1]);
    await Promise.all(closed);
  });

  test("serves the calls that handlers of its own calls make", async () => {
    const { a, b } = await endpoints();
    a.messages("back").handle((value) => value);
    const begun = gate();
    const closing = gate();
    b.messages("m").handle(async () => {
      begun.tell();
      await closing.promise;
      return b.messages("back").send(7);
    });
    const answer = a.messages("m").send(1);
    await begun.promise;
    const closed = a.close(endless);
    closing.tell();
    expect(await answer).toBe(7);
    await closed;
  });
});
