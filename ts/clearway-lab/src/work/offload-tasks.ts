// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";
import { actions } from "../offload/action.js";

export default expose(actions);
