// SPDX-License-Identifier: MIT OR Apache-2.0
import { worker } from "workerpool";
import { actions } from "../offload/action.js";

worker(actions);
