// SPDX-License-Identifier: MIT OR Apache-2.0
import { ThreadWorker } from "poolifier";
import { type ActionName, type Argument, actionOf, actions } from "../offload/action.js";

// poolifier awaits only functions that are declared async.
const tasks = Object.fromEntries(
  (Object.keys(actions) as ActionName[]).map((name) => [
    name,
    name.endsWith("Async")
      ? async (argument?: Argument) => actionOf(name)(argument as Argument)
      : (argument?: Argument) => actionOf(name)(argument as Argument) as number,
  ]),
);

export default new ThreadWorker<Argument, number>(tasks as never);
