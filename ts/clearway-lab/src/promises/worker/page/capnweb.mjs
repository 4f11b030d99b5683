// SPDX-License-Identifier: MIT OR Apache-2.0
import { newMessagePortRpcSession, RpcTarget } from "capnweb";

class Doubler extends RpcTarget {
  double(value) {
    return value * 2;
  }
}

addEventListener("message", ({ data: port }) => newMessagePortRpcSession(port, new Doubler()), { once: true });
