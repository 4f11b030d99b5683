// SPDX-License-Identifier: MIT OR Apache-2.0
// The codecs from npm. Shared records are off, so that a receiver can decode each message without earlier ones.
import { Encoder } from "cbor-x";
import { Packr } from "msgpackr";
import type { Mechanism } from "../protocol/measured.js";
import { codecMechanism } from "./measure.js";

const msgpackr = () => {
  const packr = new Packr({ useRecords: false, moreTypes: true });
  return {
    encode: (value: unknown) => packr.pack(value) as Uint8Array,
    decode: (message: Uint8Array): unknown => packr.unpack(message),
    size: (message: Uint8Array) => message.length,
  };
};

const cbor = () => {
  const encoder = new Encoder({ useRecords: false, mapsAsObjects: true });
  return {
    encode: (value: unknown) => encoder.encode(value) as Uint8Array,
    decode: (message: Uint8Array): unknown => encoder.decode(message),
    size: (message: Uint8Array) => message.length,
  };
};

export const codecPeers: Record<string, Mechanism> = {
  msgpackr: codecMechanism(msgpackr),
  "cbor-x": codecMechanism(cbor),
};
