// SPDX-License-Identifier: MIT OR Apache-2.0
// Codecs without shared records, so that each message can be read without earlier ones. `message` returns the bytes to decode, for codecs
// whose `encode` only writes into reused memory.
import v8 from "node:v8";
import { Encoder } from "cbor-x";
import { standardMessageCodec as standard } from "clearway/channel";
import { Packr } from "msgpackr";

const reused = new Uint8Array(1 << 16);
const packr = new Packr({ useRecords: false });
const packrWithTypes = new Packr({ useRecords: false, moreTypes: true });
const cbor = new Encoder({ useRecords: false, mapsAsObjects: true });

export const codecs = [
  {
    name: "clearway, encodeInto and owned",
    role: "clearway",
    settings: "encodeInto reused memory; decode with owned: true; decoded lists are views of the message",
    encode: (value) => standard.encodeInto(value, reused),
    message: (value) => standard.encode(value),
    decode: (bytes) => standard.decode(bytes, { owned: true }),
  },
  {
    name: "clearway, encode and decode",
    role: "clearway",
    settings: "new memory for each message and each decoded list",
    encode: (value) => standard.encode(value),
    decode: (bytes) => standard.decode(bytes),
  },
  {
    name: "msgpackr",
    role: "peer",
    settings:
      "useRecords false, other options at their defaults: one buffer for many messages; decoded lists are views of the message",
    encode: (value) => packr.pack(value),
    decode: (bytes) => packr.unpack(bytes),
  },
  {
    name: "msgpackr, moreTypes",
    role: "peer",
    settings: "useRecords false, moreTypes true",
    encode: (value) => packrWithTypes.pack(value),
    decode: (bytes) => packrWithTypes.unpack(bytes),
  },
  {
    name: "cbor-x",
    role: "peer",
    settings: "useRecords false, mapsAsObjects true",
    encode: (value) => cbor.encode(value),
    decode: (bytes) => cbor.decode(bytes),
  },
  {
    name: "v8.serialize",
    role: "peer",
    settings: "v8.serialize and v8.deserialize",
    encode: (value) => v8.serialize(value),
    decode: (bytes) => v8.deserialize(bytes),
  },
  {
    name: "structuredClone",
    role: "peer",
    settings: "structuredClone is one step; encoding is its first half",
    encode: undefined,
    message: (value) => value,
    decode: (value) => structuredClone(value),
  },
];
