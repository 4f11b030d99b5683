// SPDX-License-Identifier: MIT OR Apache-2.0
import { jsonMessageCodec, jsonMethodCodec } from "../../../src/channel/codec/json.js";
import { standardMessageCodec, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { optionSuite, refusalSuite } from "../../fixtures/option-suite.js";

/** Calls a function with a connected endpoint, whose other end answers, and closes both. */
async function connected<T>(wire: "clearway" | "plain", act: (endpoint: Endpoint) => T): Promise<Awaited<T>> {
  const [a, b] = memoryPair();
  const [here, there] = await Promise.all([connect(a, { wire }), connect(b, { wire })]);
  there.messages("echo").handle((message) => message);
  there.methods("same").handle({ same: (args: unknown) => args });
  there.events("ticks").serve(() => [1, 2]);
  try {
    return await act(here);
  } finally {
    here.terminate();
    there.terminate();
  }
}

optionSuite({
  name: "connect",
  act: async (options) => {
    const [a, b] = memoryPair();
    // The transport stays open when its options are refused.
    const there = connect(b);
    there.catch(() => {});
    try {
      (await connect(a, options as never)).terminate();
    } finally {
      a.close();
      b.close();
    }
  },
  typo: ["callMax", "callsMax"],
  option: "helloMs",
  bad: [
    ['wire must be one of clearway, plain, either: wire="fast"', { wire: "fast" }],
    ["hello must be of type boolean: hello=0", { hello: 0, wire: "plain" }],
    ['hello must be true unless wire is "plain": hello=false', { hello: false }],
    ["helloMs must be a number, 0 or more: helloMs=NaN", { helloMs: Number.NaN }],
    ['stallMs="5"', { stallMs: "5" }],
    ["earlyMs=-1", { earlyMs: -1 }],
    ["signal must be an AbortSignal: signal=null", { signal: null }],
    ["callsMax must be a whole number from 1 to 2147483647: callsMax=0", { callsMax: 0 }],
    ["replyBytesMax=1.5", { replyBytesMax: 1.5 }],
    ["valuesMax must be a whole number from 1 to 2147483647: valuesMax=0", { valuesMax: 0 }],
    ["valuesMax=-1", { valuesMax: -1 }],
    ["valuesMax=1.5", { valuesMax: 1.5 }],
    ['valuesMax="9"', { valuesMax: "9" }],
    ["valuesMax=2147483648", { valuesMax: 2 ** 31 }],
    ["nameBytesMax=65536", { nameBytesMax: 65_536 }],
    ["early=1025", { early: 1025 }],
    ["earlyBytesMax=-1", { earlyBytesMax: -1 }],
    ["attachmentBytesMin=0", { attachmentBytesMin: 0 }],
    ["strict must be of type boolean: strict=1", { strict: 1 }],
    ['stacks="yes"', { stacks: "yes" }],
    ["exposeErrors=null", { exposeErrors: null }],
    ["redactError must be of type function: redactError=true", { redactError: true }],
    ["onError=3", { onError: 3 }],
  ],
});

const callOptions = {
  typo: ["timeout", "timeoutMs"],
  option: "deadlineMs",
  bad: [
    ["signal must be an AbortSignal: signal=5", { signal: 5 }],
    ["timeoutMs must be a number above 0: timeoutMs=0", { timeoutMs: 0 }],
    ['deadlineMs="5"', { deadlineMs: "5" }],
    ["deadlineMs=NaN", { deadlineMs: Number.NaN }],
  ],
} as const;

const listenOptions = {
  typo: ["whenfull", "whenFull"],
  option: "capacity",
  bad: [
    ["signal must be an AbortSignal: signal=[object]", { signal: {} }],
    ["window must be an object: window=16", { window: 16 }],
    ["window.items must be a whole number from 1 to 2147483647: window.items=0", { window: { items: 0 } }],
    ["(the nearest is bytes): window.byte=1", { window: { byte: 1 } }],
    ["capacity must be a whole number from 1 to 65535: capacity=0", { capacity: 0 }],
    ['whenFull must be one of wait, fail, dropOldest, dropNewest: whenFull="drop"', { whenFull: "drop" }],
    ["onDrop must be of type function: onDrop=true", { onDrop: true }],
  ],
} as const;

for (const wire of ["clearway", "plain"] as const) {
  optionSuite({
    ...callOptions,
    name: `send, on the ${wire} wire`,
    act: (options) => connected(wire, ({ messages }) => messages("echo").send(1, options as never)),
  });
  optionSuite({
    ...callOptions,
    name: `call, on the ${wire} wire`,
    act: (options) => connected(wire, ({ methods }) => methods("same").call("same", 1, options as never)),
  });
  optionSuite({
    ...listenOptions,
    name: `listen, on the ${wire} wire`,
    act: (options) =>
      connected(wire, async ({ events }) => {
        for await (const _each of events("ticks").listen(null, options as never));
      }),
  });
  optionSuite({
    name: `serve, on the ${wire} wire`,
    act: (options) => connected(wire, ({ events }) => events("mine").serve(() => [], options as never)),
    typo: ["capacities", "capacity"],
    option: "whenFull",
    bad: [
      ["capacity=65536", { capacity: 65_536 }],
      ["whenFull=1", { whenFull: 1 }],
    ],
  });
}

optionSuite({
  name: "close",
  act: (options) => connected("clearway", (endpoint) => endpoint.close(options as never)),
  typo: ["timeout", "timeoutMs"],
  option: "timeoutMs",
  bad: [
    ["timeoutMs must be a number, 0 or more: timeoutMs=-1", { timeoutMs: -1 }],
    ['timeoutMs="5"', { timeoutMs: "5" }],
  ],
});

optionSuite({
  name: "terminate",
  act: (reason) => connected("clearway", (endpoint) => endpoint.terminate(reason as never)),
  typo: ["messages", "message"],
  option: "code",
  bad: [
    ['code must be one of closed, lost, protocol, too-large, refused, timeout, failed: code="bye"', { code: "bye" }],
    ["message must be of type string: message=5", { message: 5 }],
    ["detail must be of type object: detail=5", { detail: 5 }],
  ],
});

const limits = [
  ["frameBytesMax must be a whole number from 1 to 2147483647: frameBytesMax=0", { frameBytesMax: 0 }],
  ['frameBytesMax="1"', { frameBytesMax: "1" }],
  ["windowBytes must be a number, 1 or more: windowBytes=NaN", { windowBytes: Number.NaN }],
] as const;

optionSuite({
  name: "memoryPair",
  act: (options) => void memoryPair(options as never),
  typo: ["frameByteMax", "frameBytesMax"],
  option: "windowBytes",
  bad: limits,
});

optionSuite({
  name: "portTransport",
  act: (options) => {
    const { port1 } = new MessageChannel();
    try {
      portTransport(port1, options as never);
    } finally {
      port1.close();
    }
  },
  typo: ["rings", "ring"],
  option: "windowBytes",
  bad: [...limits, ['ring must be one of offer, accept: ring="yes"', { ring: "yes" }]],
});

const codec = { name: "standard", encode: () => new Uint8Array() };
const refused: readonly [shown: string, act: (endpoint: Endpoint) => unknown][] = [
  ["name must be a string: name=5", ({ messages }) => messages(5 as never)],
  ["name must be a string: name=undefined", ({ methods }) => methods(undefined as never)],
  ["name must be a string: name=[object]", ({ events }) => events({} as never)],
  ["codec must be a MessageCodec: codec=null", ({ messages }) => messages("a", null as never)],
  ["codec must be a MessageCodec: codec=[object]", ({ messages }) => messages("a", codec as never)],
  ["codec must be a MessageCodec: codec=[object]", ({ messages }) => messages("a", standardMethodCodec as never)],
  ["codec must be a MethodCodec: codec=5", ({ methods }) => methods("a", 5 as never)],
  ["codec must be a MethodCodec: codec=[object]", ({ events }) => events("a", standardMessageCodec as never)],
  ["handler must be a function: handler=3", ({ messages }) => messages("a").handle(3 as never)],
  ["handlers must be an object: handlers=3", ({ methods }) => methods("a").handle(3 as never)],
  ["open must be a function: open=[object]", ({ events }) => events("a").serve([1] as never)],
  ["port must be a MessagePort or a worker", () => portTransport({} as never)],
];
refusalSuite(
  "an argument of a channel that is not an option",
  refused.map(([shown, act]) => [shown, () => connected("clearway", act)]),
);

for (const [name, codec] of [
  ["standardMessageCodec", standardMessageCodec],
  ["standardMethodCodec", standardMethodCodec],
] as const) {
  optionSuite({
    name: `${name}.with`,
    act: (options) => void codec.with(options as never),
    typo: ["maxDepth", "depthMax"],
    option: "lossless",
    bad: [
      ["depthMax must be a whole number from 0 to 1000: depthMax=1001", { depthMax: 1001 }],
      ["itemsMax must be a whole number from 0 to 4294967295: itemsMax=-1", { itemsMax: -1 }],
      ["extensions must be an array of extensions: extensions=5", { extensions: 5 }],
      ["lossless must be of type boolean: lossless=1", { lossless: 1 }],
      ["emptyNull=null", { emptyNull: null }],
    ],
  });
}

for (const [name, codec] of [
  ["jsonMessageCodec", jsonMessageCodec],
  ["jsonMethodCodec", jsonMethodCodec],
] as const) {
  optionSuite({
    name: `${name}.with`,
    act: (options) => void codec.with(options as never),
    typo: ["maxDepth", "depthMax"],
    option: "depthMax",
    bad: [
      ['depthMax="5"', { depthMax: "5" }],
      ["itemsMax must be a known option", { itemsMax: 5 }],
    ],
  });
}
