// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { Post, portMark } from "../../../src/channel/transport/port-message.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { endWithTest, rejection, until } from "./pairs.js";

describe("an end with a hostile peer", () => {
  // An endpoint, and a port at which the test posts raw messages.
  const victim = async (options: EndpointOptions = {}) => {
    const { port1, port2 } = new MessageChannel();
    const answers: unknown[][] = [];
    port2.onmessage = ({ data }) => void answers.push(data);
    const hello = connect(portTransport(port1), { codec: "clone", ...options });
    await until(() => answers.some((each) => each[1] === Post.frames));
    const own = answers.find((each) => each[1] === Post.frames) as unknown[];
    port2.postMessage([portMark, Post.frames, own[2], own[3], undefined, 1]);
    const endpoint = await hello;
    endWithTest(endpoint);
    const values = (...flat: unknown[]): void => port2.postMessage([portMark, Post.values, flat, 0]);
    const call = (id: number, channel: string, method: unknown, value: unknown, bytes = 0): void =>
      values(1, 8, id, 0, 0, 0, channel, method, value, bytes, 0, 0, 0);
    const replies = (): unknown[] => answers.filter((each) => each[1] === Post.values || each[1] === Post.frames);
    return { endpoint, port: port2, values, call, replies };
  };

  test("closes with protocol or too-large for messages that are no frames", async () => {
    const good = [1, 8, 1, 0, 0, 0, "m", "x", null, 0, 0, 0, 0];
    const bad: unknown[] = [undefined, null, 7, "text", {}, [], [1], good.slice(1), [...good, 1], { length: 13 }];
    for (const [at, each] of good.entries())
      for (const other of [-1, 1.5, Number.NaN, 2 ** 32, "1", null, {}, []])
        if (at !== 8 && !(at === 7 && other === "1") && !(at === 6 && other === "1"))
          bad.push(good.map((value, index) => (index === at ? other : value)).concat(each === other ? [1] : []));
    for (const flat of bad) {
      const { endpoint, port } = await victim();
      port.postMessage([portMark, Post.values, flat, 0]);
      expect((await endpoint.closed).code).toBe("protocol");
    }
    for (const taken of [undefined, "1", {}]) {
      const { endpoint, port } = await victim();
      port.postMessage([portMark, Post.values, good, taken]);
      expect((await endpoint.closed).code).toBe("protocol");
    }
    for (const taken of ["1", {}, null]) {
      const { endpoint, port } = await victim();
      port.postMessage([portMark, Post.frames, [], new Uint8Array(), undefined, undefined, taken]);
      expect((await endpoint.closed).code).toBe("protocol");
    }
    const { endpoint, call } = await victim();
    call(1, "m", "x", null, 0xffff_ffff);
    expect((await endpoint.closed).code).toBe("too-large");
  });

  test("closes with protocol for values that it does not take, or that come before the hello", async () => {
    const good = [1, 8, 1, 0, 0, 0, "m", "x", null, 0, 0, 0, 0];
    const { endpoint, port } = await victim({ codec: "standard" });
    port.postMessage([portMark, Post.values, good, 0]);
    expect((await endpoint.closed).code).toBe("protocol");
    const { port1, port2 } = new MessageChannel();
    const early = connect(portTransport(port1));
    port2.postMessage([portMark, Post.values, good, 0]);
    expect(await rejection(early)).toMatchObject({ code: "protocol" });
    port2.close();
  });

  test("answers any value, and stays open", async () => {
    const { endpoint, call, values, replies } = await victim({ valuesMax: 100 });
    const seen: unknown[] = [];
    endpoint.methods("m").handle((method, args) => void seen.push([method, args]));
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    call(1, "m", undefined, 1);
    call(2, "m", "x", cyclic);
    call(3, "m", "x", new Array(101).fill(0));
    call(4, "m", "x", new Map(Array.from({ length: 51 }, (_, at) => [at, at])));
    call(5, "m", "x", Object.fromEntries(Array.from({ length: 51 }, (_, at) => [at, at])));
    call(6, "m", "x", [[new Array(60).fill(0)], [new Array(60).fill(0)]]);
    values(1, 0, 7, 0, 0, 0, "m", "x", "no value", 0, 0, 0, 0);
    values(1, 10, 10, 0, 0, 0, "m", "x", "no bytes", 0, 0, 0, 0);
    values(1, 10, 11, 0, 0, 0, "m", undefined, new Uint8Array([99, 99]), 0, 0, 0, 0);
    values(2, 8, 99, 0, 0, 0, "", undefined, "a reply to nothing", 0, 0, 0, 0);
    values(6, 8, 99, 0, 0, 0, "", undefined, "an event of nothing", 0, 0, 0, 0);
    call(9, "m", "x", Object.assign([1], { forEach: 5, map: 5 }));
    call(8, "m", "last", new Array(99).fill(0));
    await until(() => seen.length === 3);
    expect(seen).toEqual([
      ["x", cyclic],
      ["x", Object.assign([1], { forEach: 5, map: 5 })],
      ["last", new Array(99).fill(0)],
    ]);
    await until(() => replies().length >= 3);
    expect(endpoint.stats().handling).toBe(0);
  });

  test("charges early values by their own size, whatever the peer says", async () => {
    const { endpoint, call } = await victim({ earlyBytesMax: 10_000 });
    call(1, "later", "x", "y".repeat(50_000));
    call(2, "later", "x", new Uint8Array(50_000));
    call(3, "later", "x", "small");
    const holes: unknown[] = [];
    holes.length = 2 ** 24;
    call(4, "later", "x", holes);
    await until(() => endpoint.stats().handling === 2);
    const seen: unknown[] = [];
    endpoint.methods("later").handle((_, args) => void seen.push(args));
    await until(() => seen.length > 1);
    expect(seen[0]).toEqual("small");
    expect(seen[1]).toHaveLength(2 ** 24);
  });
});
